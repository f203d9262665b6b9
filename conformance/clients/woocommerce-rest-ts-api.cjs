// npm `woocommerce-rest-ts-api`: a typed client with pagination and retries of its own.
"use strict";

const { assert, pair, refusal, site, step } = require("./session.cjs");
const { default: WooCommerceRestApi, collectAllPages } = require("woocommerce-rest-ts-api");

const isHttps = site.startsWith("https:");
const key = pair("key:read_write");
const shop = new WooCommerceRestApi({
  url: site,
  consumerKey: key.user,
  consumerSecret: key.password,
  version: "wc/v3",
  queryStringAuth: isHttps,
});

let product;

step("creates a product, reads it, changes it", async () => {
  const made = await shop.createProduct({ name: "Fender", regular_price: "31.00", tax_status: "none" });
  product = made.data.id;
  assert.equal((await shop.getProduct(product)).data.name, "Fender");
  const changed = await shop.updateProduct(product, { regular_price: "29.00" });
  assert.equal(changed.data.price, "29.00");
});

step("collects all pages of a list", async () => {
  const page = await shop.getProducts({ per_page: 5, page: 2 });
  assert.equal(page.data.length, 5);
  const total = Number(page.headers["x-wp-total"]);
  const all = await collectAllPages(
    (number, size) => shop.getProducts({ per_page: size, page: number }),
    { perPage: 5 },
  );
  assert.equal(all.length, total);
  assert.equal(new Set(all.map((one) => one.id)).size, total);
});

step("makes an order and deletes it", async () => {
  const order = await shop.createOrder({ line_items: [{ product_id: product, quantity: 2 }] });
  assert.equal(order.data.total, "58.00");
  assert.equal((await shop.getOrder(order.data.id)).data.id, order.data.id);
  const changed = await shop.put("orders", { status: "completed" }, { id: order.data.id });
  assert.equal(changed.data.status, "completed");
  await shop.delete("orders", { force: true }, { id: order.data.id });
  await refusal(shop.getOrder(order.data.id));
});

step("lists customers and coupons, and reads a report and the state of the shop", async () => {
  assert.ok((await shop.getCustomers({ per_page: 3 })).data.length > 0);
  assert.ok(Array.isArray((await shop.getCoupons({ per_page: 3 })).data));
  const totals = await shop.get("reports/orders/totals");
  assert.ok(totals.data.some((one) => one.slug === "completed"));
  const state = (await shop.getSystemStatus()).data;
  assert.ok(state.environment && state.settings);
});

step("cleans up", async () => {
  await shop.delete("products", { force: true }, { id: product });
  await refusal(shop.getProduct(product));
});
