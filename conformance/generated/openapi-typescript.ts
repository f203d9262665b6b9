// npm `openapi-typescript` makes types of the documents, and `openapi-fetch` calls by them.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import createClient from "openapi-fetch";
import type { paths as Onboarding } from "./openapi-typescript/onboarding";
import type { paths as Rest } from "./openapi-typescript/rest";
import * as session from "./session";

const { present, step } = session;
const headers = { Authorization: session.apiKey };
const onboarding = createClient<Onboarding>({ baseUrl: session.onboardingRoot, headers });
const shop = createClient<Rest>({
  baseUrl: session.restRoot,
  headers: { Authorization: session.basic },
});

step("has types for every operation", () => {
  for (const document of ["onboarding", "rest"] as const) {
    const file = path.join(__dirname, "..", "openapi-typescript", `${document}.ts`);
    const types = fs.readFileSync(file, "utf8");
    const all = session.operations(document);
    const missing = all.filter((name) => !types.includes(`operations["${name}"]`));
    assert.deepEqual(missing, []);
  }
});

step("onboards a merchant and reads it back", async () => {
  const body = session.merchantOf("Harbor Types");
  const made = await onboarding.POST("/v1/onboardmerchant", { body });
  const merchantId = present(made.data?.data.merchantId, "merchant");
  const read = await onboarding.GET("/v1/merchants/{merchantId}", {
    params: { path: { merchantId } },
  });
  assert.equal(present(read.data, "merchant").dba, "Harbor Types");
});

step("reads a report", async () => {
  const read = await shop.GET("/wc-analytics/reports/revenue/stats", {
    params: { query: { ...session.REPORT, interval: "year" } },
  });
  const report = present(read.data, "report");
  assert.ok(present(report.totals?.orders_count, "count") > 0);
  assert.ok(present(report.intervals, "list").length > 0);
});

step("makes an order and reads it back", async () => {
  const products = await shop.GET("/wc/v3/products", {
    params: { query: { type: "simple", stock_status: "instock", per_page: 1 } },
  });
  const product_id = present(products.data?.[0]?.id, "product");
  const made = await shop.POST("/wc/v3/orders", {
    body: { status: "pending", line_items: [{ product_id, quantity: 2 }] },
  });
  const id = present(made.data?.id, "order");
  const read = await shop.GET("/wc/v3/orders/{id}", { params: { path: { id } } });
  assert.equal(read.data?.line_items?.[0]?.quantity, 2);
  assert.equal(read.data?.total, made.data?.total);
});

step("is told why a request was refused", async () => {
  const read = await shop.GET("/wc/v3/orders/{id}", { params: { path: { id: 99999999 } } });
  assert.equal(read.error?.code, "woocommerce_rest_shop_order_invalid_id");
});
