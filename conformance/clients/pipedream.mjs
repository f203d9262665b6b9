// npm `@pipedream/woocommerce`: components of an automation service, run as the service runs them: a
// component is bound to its app, its fields and a store of its own.
import { createRequire } from "node:module";

const load = async (path) => (await import(`@pipedream/woocommerce/${path}`)).default;
const app = await load("woocommerce.app.mjs");
// Steps are run as soon as the script is read, so it waits for nothing from here on.
const { assert, pair, refusal, site, step } = createRequire(import.meta.url)("./session.cjs");
const key = pair("key:read_write");

/** The app with its methods bound, as components see it. */
const bound = { $auth: { url: site, key: key.user, secret: key.password } };
for (const [name, method] of Object.entries(app.methods)) bound[name] = method.bind(bound);

/** Runs an action with these fields. */
async function run(name, fields = {}) {
  const action = await load(`actions/${name}/${name}.mjs`);
  const said = [];
  const self = { woocommerce: bound, app: bound, ...action.methods, ...fields };
  const answer = await action.run.call(self, { $: { export: (_, text) => said.push(text) } });
  assert.equal(said.length, 1, `${name} sums up what it did`);
  return answer;
}

let product;
let order;

step("creates a product and finds it among all", async () => {
  const made = await run("create-product", {
    name: "Signal flag",
    type: "simple",
    status: "publish",
    regularPrice: "12.00",
  });
  product = made.id;
  await bound.updateProduct(product, { tax_status: "none" });
  assert.equal((await run("get-product", { productId: product })).name, "Signal flag");
  const found = await run("list-products", { search: "Signal flag", maxResults: 5 });
  assert.ok(found.some((one) => one.id === product));
});

step("offers choices for its fields", async () => {
  const choices = async (name) => app.propDefinitions[name].options.call(bound, { page: 0 });
  for (const name of ["orderId", "customer", "paymentMethod", "products", "productCategories"]) {
    const offered = await choices(name);
    assert.ok(offered.length > 0, name);
    assert.ok(offered.every((one) => one.label !== undefined && one.value !== undefined), name);
  }
});

step("pages through all orders", async () => {
  const orders = await run("list-orders", { maxResults: 25 });
  assert.equal(orders.length, 25);
  assert.equal(new Set(orders.map((one) => one.id)).size, 25);
});

step("makes an order with a note, refunds it and deletes it", async () => {
  const made = await bound.createOrder({
    status: "processing",
    line_items: [{ product_id: product, quantity: 3 }],
  });
  order = made.id;
  assert.equal(made.total, "36.00");
  const note = await run("add-order-note", { orderId: order, note: "Hoist it." });
  const notes = await run("list-order-notes", { orderId: order });
  assert.ok(notes.some((one) => one.id === note.id));
  const refund = await bound.createRefund({
    orderId: order,
    data: { amount: "6.00", api_refund: false },
  });
  assert.equal(refund.amount, "6.00");
  await run("delete-order", { orderId: order, force: true });
  await refusal(bound.getOrder(order));
});

step("has itself told of orders, and stops that", async () => {
  const source = await load("sources/new-order-event/new-order-event.mjs");
  const kept = new Map();
  const emitted = [];
  const self = {
    woocommerce: bound,
    topics: ["created", "updated"],
    http: { endpoint: "https://automation.example/hook" },
    db: { get: (name) => kept.get(name), set: (name, value) => kept.set(name, value) },
    $emit: (event) => emitted.push(event),
  };
  for (const [name, method] of Object.entries(source.methods)) self[name] = method.bind(self);
  await source.hooks.deploy.call(self);
  assert.equal(emitted.length, 25, "the newest orders are its samples");
  await source.hooks.activate.call(self);
  assert.equal(kept.get("hookIds").length, 2);
  await source.hooks.deactivate.call(self);
  assert.equal(kept.get("hookIds"), null);
});

step("cleans up", async () => {
  await bound.deleteResource(`products/${product}?force=true`);
  await refusal(bound.getProduct(product));
});
