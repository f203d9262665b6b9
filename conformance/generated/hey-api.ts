// npm `@hey-api/openapi-ts` makes a function for every operation, with the credentials that its
// document asks for.
import assert from "node:assert/strict";
import * as onboarding from "./hey-api/onboarding";
import { client as onboardingClient } from "./hey-api/onboarding/client.gen";
import * as shop from "./hey-api/rest";
import { client as shopClient } from "./hey-api/rest/client.gen";
import * as session from "./session";

const { present, step } = session;
onboardingClient.setConfig({ baseUrl: session.onboardingRoot, auth: () => session.apiKey });
shopClient.setConfig({
  baseUrl: session.restRoot,
  auth: ({ scheme }) => (scheme === "basic" ? session.administrator : undefined),
});

step("has a function for every operation", () => {
  const functions = (all: object) => Object.values(all).filter((one) => typeof one === "function");
  assert.equal(functions(onboarding).length, session.operations("onboarding").length);
  assert.equal(functions(shop).length, session.operations("rest").length);
});

step("onboards a merchant and reads it back", async () => {
  const body = session.merchantOf("Harbor Functions");
  const made = await onboarding.onboardMerchant({ body });
  const merchantId = present(made.data?.data.merchantId, "merchant");
  const read = await onboarding.merchantGet({ path: { merchantId } });
  assert.equal(present(read.data, "merchant").dba, "Harbor Functions");
});

step("reads a report", async () => {
  const query = { ...session.REPORT, interval: "year" as const };
  const read = await shop.getWcAnalyticsReportsRevenueStats({ query });
  const report = present(read.data, "report");
  assert.ok(present(report.totals?.orders_count, "count") > 0);
  assert.ok(present(report.intervals, "list").length > 0);
});

step("makes an order and reads it back", async () => {
  const query = { type: "simple" as const, stock_status: "instock" as const, per_page: 1 };
  const products = await shop.getWcV3Products({ query });
  const product_id = present(products.data?.[0]?.id, "product");
  const body = { status: "pending" as const, line_items: [{ product_id, quantity: 2 }] };
  const made = await shop.postWcV3Orders({ body });
  const id = present(made.data?.id, "order");
  const read = await shop.getWcV3OrdersById({ path: { id } });
  assert.equal(read.data?.line_items?.[0]?.quantity, 2);
  assert.equal(read.data?.total, made.data?.total);
});

step("is told why a request was refused", async () => {
  const read = await shop.getWcV3OrdersById({ path: { id: 99999999 } });
  assert.equal(read.error?.code, "woocommerce_rest_shop_order_invalid_id");
});
