// npm `@store-sdk/core`, a client of the Store API for shops whose pages are made elsewhere: a guest
// goes from the list of products to an order, with the cart token and the nonce that it keeps.
import { createRequire } from "node:module";
import { StoreSdk } from "@store-sdk/core";

const require = createRequire(import.meta.url);
const { assert, pair, site, step } = require("./session.cjs");

const { user, password } = pair("admin");
const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const RUN = Date.now().toString(36);
const EMAIL = `ada-${RUN}@example.test`;
const COUPON = `tenth-${RUN}`;
const ADDRESS = {
  first_name: "Ada",
  last_name: "Lake",
  company: "",
  address_1: "1 Pier Rd",
  address_2: "",
  city: "Oakland",
  state: "CA",
  postcode: "94607",
  country: "US",
  phone: "5105550111",
};

/** What the shop's people do beforehand. */
async function made(method, path, body) {
  const headers = { Authorization: authorization, "Content-Type": "application/json" };
  const answer = await fetch(`${site}/wp-json${path}`, { method, headers, body: JSON.stringify(body) });
  const json = await answer.json();
  assert.ok(answer.ok, `${method} ${path}: ${JSON.stringify(json)}`);
  return json;
}

/** What the client got; it is a failure if it was refused. */
async function got(promise) {
  const { data, error } = await promise;
  assert.equal(error ?? null, null, JSON.stringify(error));
  assert.ok(data, "no answer");
  return data;
}

let product, cart, order;

step("the shop has a product, a coupon, a rate and a way to pay", async () => {
  product = await made("POST", "/wc/v3/products", {
    name: `Anchor ${RUN}`,
    regular_price: "25",
    manage_stock: true,
    stock_quantity: 3,
  });
  await made("POST", "/wc/v3/coupons", { code: COUPON, discount_type: "percent", amount: "10" });
  await made("POST", "/wc/v3/shipping/zones/0/methods", {
    method_id: "flat_rate",
    settings: { cost: "5" },
  });
  await made("POST", "/wc/v3/shipping/zones/0/methods", { method_id: "local_pickup" });
  await made("PUT", "/wc/v3/payment_gateways/bacs", { enabled: true });
});

step("begins with an empty cart, its token and a nonce", async () => {
  const tokens = [];
  StoreSdk.events.on("cart:token:changed", (token) => tokens.push(token));
  await StoreSdk.init({ baseUrl: site });
  assert.ok(StoreSdk.state.cartToken, "no cart token");
  assert.ok(StoreSdk.state.nonce, "no nonce");
  assert.ok(tokens.length > 0, "the client was not told of its token");
  cart = await got(StoreSdk.store.cart.get());
  assert.equal(cart.items.length, 0);
});

step("lists products page by page, and reads one by id and by slug", async () => {
  const first = await StoreSdk.store.products.list({ per_page: 5, page: 1, orderby: "date" });
  assert.equal(first.error ?? null, null);
  assert.equal(first.data.length, 5);
  assert.ok(Number(first.total) > 5 && Number(first.totalPages) > 1, `${first.total} products`);
  assert.ok(first.link.next, "the next page is linked");
  const found = await got(StoreSdk.store.products.list({ search: `Anchor ${RUN}` }));
  assert.deepEqual(found.map(({ id }) => id), [product.id]);
  const byId = await got(StoreSdk.store.products.single({ id: product.id }));
  const bySlug = await got(StoreSdk.store.products.single({ slug: product.slug }));
  assert.equal(byId.prices.price, "2500");
  assert.equal(bySlug.id, product.id);
});

step("reads categories, tags, attributes, reviews and counts", async () => {
  const { store } = StoreSdk;
  assert.ok((await got(store.categories.list())).length > 0);
  await got(store.tags.list());
  await got(store.brands.list());
  await got(store.reviews.list({ per_page: 5 }));
  const [attribute] = await got(store.attributes.list());
  assert.ok((await got(store.attributesTerms.list(attribute.id))).length > 0);
  const counts = await got(store.collectionData.calculate({ calculate_price_range: true }));
  assert.ok(Number(counts.price_range.max_price) > 0);
});

step("adds, changes and removes items", async () => {
  const { cart: carts, cartItems } = StoreSdk.store;
  cart = await got(carts.add({ id: product.id, quantity: 1 }));
  const { key } = cart.items[0];
  cart = await got(carts.update(key, 3));
  assert.equal(cart.items_count, 3);
  const { error } = await carts.update(key, 4);
  assert.equal(error.code, "invalid_quantity");
  cart = await got(carts.remove(key));
  assert.equal(cart.items.length, 0);
  const item = await got(cartItems.add({ id: product.id, quantity: 2 }));
  assert.equal((await got(cartItems.list())).length, 1);
  assert.equal((await got(cartItems.single(item.key))).quantity, 2);
});

step("applies and removes a coupon", async () => {
  const { cart: carts, cartCoupons } = StoreSdk.store;
  cart = await got(carts.applyCoupon(COUPON));
  assert.equal(cart.totals.total_discount, "500");
  cart = await got(carts.removeCoupon(COUPON));
  assert.equal(cart.totals.total_discount, "0");
  await got(cartCoupons.add(COUPON));
  assert.deepEqual((await got(cartCoupons.list())).map(({ code }) => code), [COUPON]);
  const { error } = await carts.applyCoupon(`none-${RUN}`);
  assert.equal(error.code, "woocommerce_rest_cart_coupon_error");
});

step("says where to ship, and chooses how", async () => {
  const { cart: carts } = StoreSdk.store;
  const billing = { ...ADDRESS, email: EMAIL };
  cart = await got(carts.updateCustomer({ billing_address: billing, shipping_address: ADDRESS }));
  assert.equal(cart.shipping_address.city, "Oakland");
  const [shipped] = cart.shipping_rates;
  const rate = (method) => shipped.shipping_rates.find((one) => one.method_id === method);
  cart = await got(carts.selectShippingRate(shipped.package_id, rate("local_pickup").rate_id));
  assert.equal(cart.totals.total_shipping, "0");
  cart = await got(carts.selectShippingRate(shipped.package_id, rate("flat_rate").rate_id));
  assert.equal(cart.totals.total_shipping, "500");
});

step("checks out", async () => {
  const { checkout } = StoreSdk.store;
  assert.equal((await got(checkout.get())).status, "checkout-draft");
  const given = {
    billing_address: { ...ADDRESS, email: EMAIL },
    shipping_address: ADDRESS,
    customer_note: "Ring twice",
  };
  const { error } = await checkout.processOrderAndPayment({ ...given, payment_method: "" });
  assert.equal(error.code, "woocommerce_rest_checkout_missing_payment_method");
  order = await got(checkout.processOrderAndPayment({ ...given, payment_method: "bacs" }));
  assert.equal(order.status, "on-hold");
  assert.equal(order.payment_result.payment_status, "success");
  cart = await got(StoreSdk.store.cart.get());
  assert.equal(cart.items.length, 0, "the cart is empty again");
});

step("reads the order, which the shop has as well", async () => {
  const { orders } = StoreSdk.store;
  const shown = await got(orders.get(order.order_key, order.order_id, EMAIL));
  assert.equal(shown.totals.total_discount, "500");
  assert.equal(shown.totals.total_shipping, "500");
  assert.equal(shown.items[0].quantity, 2);
  const headers = { Authorization: authorization };
  const answer = await fetch(`${site}/wp-json/wc/v3/orders/${order.order_id}`, { headers });
  const stored = await answer.json();
  assert.equal(stored.created_via, "store-api");
  assert.equal(stored.customer_note, "Ring twice");
  const minor = Math.round(Number(stored.total) * 100);
  assert.equal(String(minor), shown.totals.total_price);
});
