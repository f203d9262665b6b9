// The npm package `@woocommerce/woocommerce-rest-api`: Basic where the address is https, OAuth 1.0a
// where it is http. It decides by itself; this session must hold for both.
"use strict";

const { default: WooCommerceRestApi } = require("@woocommerce/woocommerce-rest-api");
const { assert, pair, refusal, site, step } = require("./session.cjs");

const secure = site.startsWith("https:");
const AUTHENTICATION_ERROR = "woocommerce_rest_authentication_error";

const client = (name, change = {}) => {
  const { user, password } = pair(name);
  const options = { url: site, consumerKey: user, consumerSecret: password, version: "wc/v3" };
  return new WooCommerceRestApi({ ...options, ...change });
};

const refused = async (promise, status, code) => {
  const { response } = await refusal(promise);
  assert.ok(response, "there was no answer at all");
  assert.deepEqual([response.status, response.data.code], [status, code]);
};

step(`reads the index of a namespace over ${secure ? "https" : "http"}`, async () => {
  const { status, data } = await client("key:read").get("");
  assert.equal(status, 200);
  assert.equal(data.namespace, "wc/v3");
});

step("reads with parameters, which are signed too", async () => {
  const parameters = { context: "help", list: ["a b", "c&d"], text: "größe ~*'()" };
  const { data } = await client("key:read").get("", parameters);
  assert.equal(data.namespace, "wc/v3");
});

step("reads another namespace", async () => {
  const { data } = await client("key:read_write", { version: "wc-analytics" }).get("");
  assert.equal(data.namespace, "wc-analytics");
});

step("a key that may only read may not write", async () => {
  await refused(client("key:read").post("", { a: 1 }), 401, AUTHENTICATION_ERROR);
  await refused(client("key:read").put("", { a: 1 }), 401, AUTHENTICATION_ERROR);
  await refused(client("key:read").delete(""), 401, AUTHENTICATION_ERROR);
});

step("a key that may only write may not read", async () => {
  await refused(client("key:write").get(""), 401, AUTHENTICATION_ERROR);
});

step("a key that may write comes as far as the route, which is not there", async () => {
  await refused(client("key:write").post("", { a: 1 }), 404, "rest_no_route");
  await refused(client("key:read_write").delete("nothing/1"), 404, "rest_no_route");
});

step("any key may ask what there is", async () => {
  const { status } = await client("key:write").options("");
  assert.equal(status, 200);
});

step("a wrong secret is refused", async () => {
  const wrong = client("key:read", { consumerSecret: `cs_${"0".repeat(40)}` });
  await refused(wrong.get(""), 401, AUTHENTICATION_ERROR);
});

step("sells a product, refunds a part of it, and finds everything again", async () => {
  const shop = client("key:read_write");
  const made = async (path, body) => {
    const { status, data } = await shop.post(path, body);
    assert.equal(status, 201);
    assert.deepEqual((await shop.get(`${path}/${data.id}`)).data.id, data.id);
    return data;
  };
  const product = await made("products", { name: "Harbour lamp", regular_price: "24.50" , tax_status: 'none'});
  assert.deepEqual([product.price, product.type], ["24.50", "simple"]);
  const order = await made("orders", {
    set_paid: true,
    billing: { first_name: "Ines", email: "ines@example.test" },
    line_items: [{ product_id: product.id, quantity: 2 }],
  });
  assert.deepEqual([order.status, order.total], ["processing", "49.00"]);
  const [line] = order.line_items;
  assert.deepEqual([line.name, line.subtotal], ["Harbour lamp", "49.00"]);
  const refund = await made(`orders/${order.id}/refunds`, {
    api_refund: false,
    amount: "24.50",
    reason: "One too many",
    line_items: [{ id: line.id, quantity: 1, refund_total: 24.5 }],
  });
  assert.equal(refund.line_items[0].quantity, -1);

  const again = (await shop.get(`orders/${order.id}`)).data;
  assert.deepEqual(again.refunds, [{ id: refund.id, reason: "One too many", total: "-24.50" }]);
  const changed = await shop.put(`products/${product.id}`, { regular_price: "26.00" , tax_status: 'none'});
  assert.equal(changed.data.price, "26.00");
  const listed = await shop.get("orders", { product: product.id, per_page: 5 });
  assert.equal(listed.headers["x-wp-total"], "1");
  assert.deepEqual(listed.data.map(({ id }) => id), [order.id]);

  for (const path of [`orders/${order.id}/refunds/${refund.id}`, `orders/${order.id}`]) {
    assert.equal((await shop.delete(path, { force: true })).status, 200);
  }
  assert.equal((await shop.delete(`products/${product.id}`, { force: true })).status, 200);
  await refused(shop.get(`orders/${order.id}`), 404, "woocommerce_rest_shop_order_invalid_id");
  await refused(shop.get(`products/${product.id}`), 404, "woocommerce_rest_product_invalid_id");
});

if (secure) {
  step("the key may stand in the query", async () => {
    const { data } = await client("key:read", { queryStringAuth: true }).get("");
    assert.equal(data.namespace, "wc/v3");
    const writer = client("key:write", { queryStringAuth: true });
    await refused(writer.get(""), 401, AUTHENTICATION_ERROR);
  });

  step("an unknown key is nobody's", async () => {
    const { data } = await client("badkey").get("");
    assert.equal(data.namespace, "wc/v3");
  });
} else {
  step("an unknown key is refused", async () => {
    await refused(client("badkey").get(""), 401, AUTHENTICATION_ERROR);
  });

  step("a signed request is good for one time only", async () => {
    const { request } = await client("key:read").get("");
    const again = await fetch(new URL(request.path, site));
    assert.equal(again.status, 401);
    assert.equal((await again.json()).code, AUTHENTICATION_ERROR);
  });

  step("a changed request does not fit its signature", async () => {
    const { request } = await client("key:read").get("", { context: "view" });
    const path = request.path.replaceAll("context=view", "context=help");
    const changed = await fetch(new URL(path, site));
    assert.equal(changed.status, 401);
  });

  step("a key by Basic counts for nothing without https", async () => {
    const { user, password } = pair("key:write");
    const token = Buffer.from(`${user}:${password}`).toString("base64");
    const headers = { Authorization: `Basic ${token}` };
    const answer = await fetch(`${site}/wp-json/wc/v3/`, { headers });
    assert.equal(answer.status, 200);
  });
}
