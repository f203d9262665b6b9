// npm `@activepieces/piece-woocommerce` and `@activepieces/piece-wordpress`: the nodes of an
// automation tool, run as the tool runs them: an action is given its connection and its fields.
"use strict";

const { assert, pair, refusal, site, step } = require("./session.cjs");
const { woocommerce } = require("@activepieces/piece-woocommerce/src/index.js");
const { wordpress } = require("@activepieces/piece-wordpress/src/index.js");

const key = pair("key:read_write");
const admin = pair("admin");
const shop = {
  auth: { props: { baseUrl: site, consumerKey: key.user, consumerSecret: key.password } },
  actions: woocommerce.actions(),
  triggers: woocommerce.triggers(),
};
const pages = {
  auth: { props: { website_url: site, username: admin.user, password: admin.password } },
  actions: wordpress.actions(),
};

/** What an action answers with; some pass the whole response on. */
async function run(piece, name, propsValue = {}) {
  const action = piece.actions[name];
  assert.ok(action, `there is no action ${name}`);
  const answer = await action.run({ auth: piece.auth, propsValue });
  return answer?.status && answer?.body !== undefined ? answer.body : answer;
}

const id = (answer) => answer.id ?? answer.data?.id ?? answer.product?.id ?? answer.order?.id;
const list = (answer) =>
  Array.isArray(answer) ? answer : Object.values(answer).find((value) => Array.isArray(value));

let product;
let order;

step("creates a product, finds it, changes it", async () => {
  product = id(
    await run(shop, "create_product", {
      name: "Rope ladder",
      type: "simple",
      regular_price: "42.50",
      sku: "rope-ladder",
      stock_quantity: 7,
    }),
  );
  assert.ok(product);
  const found = list(await run(shop, "list_products", { sku: "rope-ladder", per_page: 5, page: 1 }));
  assert.deepEqual(
    found.map((one) => one.id),
    [product],
  );
  await run(shop, "update_product", { product_id: product, regular_price: "45.00" });
  assert.equal((await run(shop, "get_product", { id: String(product) })).price, "45.00");
});

step("pages through a list", async () => {
  const first = list(await run(shop, "list_products", { per_page: 3, page: 1 }));
  const second = list(await run(shop, "list_products", { per_page: 3, page: 2 }));
  assert.deepEqual([first.length, second.length], [3, 3]);
  const ids = new Set([...first, ...second].map((one) => one.id));
  assert.equal(ids.size, 6, "no product comes twice");
});

step("sells it, notes something, refunds it, deletes the order", async () => {
  order = id(
    await run(shop, "create_order", {
      line_items: [{ product_id: String(product), quantity: 2 }],
      status: "processing",
      billing_email: "ines@example.test",
    }),
  );
  assert.equal((await run(shop, "get_order", { id: String(order) })).status, "processing");
  await run(shop, "add_order_note", { id: String(order), note: "Tie it well.", customer_note: false });
  const notes = list(await run(shop, "list_order_notes", { order_id: order, type: "internal" }));
  assert.ok(notes.some((one) => one.note === "Tie it well."));
  await run(shop, "create_order_refund", {
    order_id: order,
    amount: "10.00",
    reason: "A scratch",
    refund_via_gateway: false,
  });
  const refunds = list(await run(shop, "list_order_refunds", { order_id: order }));
  assert.deepEqual(
    refunds.map((one) => one.amount),
    ["10.00"],
  );
  await run(shop, "update_order", { id: String(order), status: "completed" });
  await run(shop, "delete_order", { order_id: order, permanent: true });
  await refusal(run(shop, "get_order", { id: String(order) }));
});

step("makes a customer and a coupon, and deletes them", async () => {
  const customer = id(await run(shop, "create_customer", { email: "newcomer@example.test" }));
  const found = list(await run(shop, "list_customers", { email: "newcomer@example.test" }));
  assert.deepEqual(
    found.map((one) => one.id),
    [customer],
  );
  await run(shop, "delete_customer", { customer_id: customer });
  const coupon = id(
    await run(shop, "create_coupon", { code: "knots", discount_type: "percent", amount: "10" }),
  );
  assert.equal((await run(shop, "get_coupon", { id: String(coupon) })).code, "knots");
  await run(shop, "delete_coupon", { coupon_id: coupon, permanent: true });
});

step("reads reports", async () => {
  const totals = list(await run(shop, "get_order_totals_report"));
  assert.ok(totals.length > 5);
  await run(shop, "get_sales_report", { date_min: "2020-01-01", date_max: "2030-01-01" });
  await run(shop, "get_top_sellers_report", { period: "year" });
});

step("has itself told of orders, and stops that", async () => {
  const kept = new Map();
  const context = {
    auth: shop.auth,
    propsValue: {},
    webhookUrl: "https://automation.example/hook",
    store: {
      put: async (name, value) => void kept.set(name, value),
      get: async (name) => kept.get(name),
      delete: async (name) => void kept.delete(name),
    },
  };
  const trigger = shop.triggers["$woocommerce_trigger_order_created"];
  await trigger.onEnable(context);
  assert.equal(kept.size, 1, "it keeps the id of its webhook");
  await trigger.onDisable(context);
});

step("writes a post with a category, changes it, deletes it", async () => {
  const category = id(await run(pages, "create_category", { name: "Knots" }));
  const post = id(
    await run(pages, "create_blog_post", {
      title: "The bowline",
      content: "<p>A loop that holds.</p>",
      status: "publish",
      categories: [category],
    }),
  );
  const found = list(await run(pages, "list_posts", { search: "bowline", per_page: 5, page: 1 }));
  assert.ok(found.some((one) => one.id === post));
  await run(pages, "update_blog_post", { post_id: post, title: "The bowline, again" });
  const read = await run(pages, "get_post_by_id", { post_id: post });
  assert.match(JSON.stringify(read), /The bowline, again/);
  await run(pages, "delete_post_permanently", { post_id: post });
  await run(pages, "delete_category", { category_id: category });
  await refusal(run(pages, "get_post_by_id", { post_id: post }));
});

step("knows who it is, and who else there is", async () => {
  assert.match(JSON.stringify(await run(pages, "get_current_user")), /admin/);
  assert.ok(list(await run(pages, "list_users", { per_page: 10, page: 1 })).length > 1);
  assert.ok(await run(pages, "get_site_settings"));
});

step("cleans up", async () => {
  await run(shop, "delete_product", { product_id: product, permanent: true });
  await refusal(run(shop, "get_product", { id: String(product) }));
});
