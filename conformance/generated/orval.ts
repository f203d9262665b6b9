// npm `orval` makes a function for every operation.
import assert from "node:assert/strict";
import * as onboarding from "./orval/onboarding";
import * as shop from "./orval/rest";
import * as session from "./session";

const { present, step } = session;

step("has a function for every operation", () => {
  // Each has one that makes its address, too.
  const functions = (all: object) => Object.values(all).filter((one) => typeof one === "function");
  assert.equal(functions(onboarding).length, 2 * session.operations("onboarding").length);
  assert.equal(functions(shop).length, 2 * session.operations("rest").length);
});

step("onboards a merchant and reads it back", async () => {
  const made = await onboarding.onboardMerchant(session.merchantOf("Harbor Client"));
  assert.ok(made.status === 200, JSON.stringify(made.data));
  const merchantId = present(made.data.data.merchantId, "merchant");
  const read = await onboarding.merchantGet(merchantId);
  assert.ok(read.status === 200 && read.data.dba === "Harbor Client", JSON.stringify(read.data));
});

step("reads a report", async () => {
  const query = { ...session.REPORT, interval: "year" as const };
  const read = await shop.getWcAnalyticsReportsRevenueStats(query);
  assert.ok(read.status === 200, JSON.stringify(read.data));
  assert.ok(present(read.data.totals?.orders_count, "count") > 0);
  assert.ok(present(read.data.intervals, "list").length > 0);
});

step("makes an order and reads it back", async () => {
  const products = await shop.getWcV3Products({
    type: "simple",
    stock_status: "instock",
    per_page: 1,
  });
  assert.ok(products.status === 200, JSON.stringify(products.data));
  const product_id = present(products.data[0]?.id, "product");
  const made = await shop.postWcV3Orders({
    status: "pending",
    line_items: [{ product_id, quantity: 2 }],
  });
  assert.ok(made.status === 201, JSON.stringify(made.data));
  const read = await shop.getWcV3OrdersById(present(made.data.id, "order"));
  assert.ok(read.status === 200, JSON.stringify(read.data));
  assert.equal(read.data.line_items?.[0]?.quantity, 2);
  assert.equal(read.data.total, made.data.total);
});

step("is told why a request was refused", async () => {
  const read = await shop.getWcV3OrdersById(99999999);
  assert.ok(read.status === 404, JSON.stringify(read.data));
  assert.equal(read.data.code, "woocommerce_rest_shop_order_invalid_id");
});
