// npm `@modelcontextprotocol/sdk`: the protocol's own client library starts `boardwalk mcp` as an
// assistant does, and uses its tools. BOARDWALK is the program, BOARDWALK_API_KEY the key of an ISO.
import { createRequire } from "node:module";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const require = createRequire(import.meta.url);
const { assert, identities, refusal, site, step } = require("./session.cjs");
const { BOARDWALK, BOARDWALK_API_KEY, HOME = "/" } = process.env;

/** A client of a program of its own. */
async function started(args, key = BOARDWALK_API_KEY) {
  const client = new Client({ name: "boardwalk-session", version: "1.0.0" });
  const env = { HOME, BOARDWALK_API_KEY: key };
  const command = { command: BOARDWALK, args: ["--server", site, "mcp", ...args], env };
  await client.connect(new StdioClientTransport(command));
  return client;
}

/** What a tool answers, and whether it failed. */
async function called(client, name, args = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  assert.equal(content.length, 1);
  return { isError, text: content[0].text };
}

async function answer(client, name, args) {
  const { isError, text } = await called(client, name, args);
  assert.equal(isError, false, text);
  return JSON.parse(text);
}

async function failure(client, name, args) {
  const { isError, text } = await called(client, name, args);
  assert.equal(isError, true, text);
  return text;
}

const names = async (client) => (await client.listTools()).tools.map((tool) => tool.name);

const contact = {
  dba: "Harbor Tools",
  firstName: "Maria",
  email: "maria@harbor.example",
  addressLine1: "12 Pier Road",
  zipCode: "10001",
  phoneNumber: "2125550142",
  ISDcode: "+1",
};
const application = {
  merchantData: contact,
  storeData: { ...contact, mccCode: "5812" },
  tpnData: {
    deviceManufacturer: "Kozen",
    deviceModel: "P3",
    tpnApplicationSign: "CRDT",
    tpnProcessor: {
      processorName: "CKNX",
      profile: [{ profileId: "01", apiKey: "demo-processor-key" }],
    },
  },
};

let reader;
let writer;

step("lists what reads, and nothing else", async () => {
  reader = await started([]);
  assert.equal(reader.getServerVersion().name, "boardwalk");
  const { tools } = await reader.listTools();
  assert.ok(tools.every((tool) => tool.annotations.readOnlyHint && tool.description));
  const merchants = tools.find((tool) => tool.name === "merchant_list");
  assert.match(JSON.stringify(merchants.inputSchema.properties.status), /"active"/);
  assert.ok(!tools.some((tool) => tool.name === "merchant_suspend"));
});

step("reads merchants", async () => {
  assert.deepEqual((await answer(reader, "merchant_list", { limit: 5 })).data, []);
});

step("says what the server says", async () => {
  assert.match(await failure(reader, "merchant_get", { merchantId: "000000000000" }), /Not found/);
  assert.match(await failure(reader, "merchant_list", { status: "asleep" }), /status/);
  assert.match(await failure(reader, "merchant_list", { colour: "red" }), /no argument colour/);
  await refusal(reader.callTool({ name: "merchant_befriend", arguments: {} }));
});

step("refuses to write without being allowed to", async () => {
  const said = await failure(reader, "onboard_merchant", { body: application });
  assert.match(said, /--allow-writes/);
  assert.deepEqual((await answer(reader, "merchant_list")).data, []);
});

step("writes if allowed to", async () => {
  writer = await started(["--allow-writes"]);
  assert.ok((await names(writer)).includes("merchant_suspend"));
  const dry = { "X-Validate-Only": "true", body: application };
  assert.deepEqual((await answer(writer, "onboard_merchant", dry)).data, {});
  const { data } = await answer(writer, "onboard_merchant", { body: application });
  const { merchantId } = data;
  const suspended = await answer(writer, "merchant_suspend", {
    merchantId,
    body: { reason: "Chargebacks" },
  });
  assert.equal(suspended.status, "suspended");
  const listed = await answer(reader, "merchant_list", { status: "suspended" });
  assert.deepEqual(
    listed.data.map((merchant) => merchant.merchantId),
    [merchantId],
  );
  const changed = await answer(writer, "merchant_patch", {
    merchantId,
    "If-Match": `"${suspended.version}"`,
    body: { firstName: "Mario" },
  });
  assert.equal(changed.contact.firstName, "Mario");
  assert.match(await failure(writer, "onboard_merchant", { body: application }), /merchantData\.dba/);
});

step("offers the groups that it is asked for", async () => {
  const some = await started(["--group", "events,webhooks"]);
  const offered = await names(some);
  assert.ok(offered.includes("event_list") && offered.includes("webhook_get"));
  assert.ok(!offered.includes("merchant_list"));
  await some.close();
});

step("has no more rights than its key", async () => {
  const stranger = await started([], "bw_test_wrong");
  assert.match(await failure(stranger, "merchant_list"), /check the key/);
  await stranger.close();
});

step("serves the shop, with the shop's credentials", async () => {
  const shop = await started(["--interface", "rest"], identities.admin);
  const orders = await answer(shop, "get_wc_v3_orders", { per_page: 2 });
  assert.equal(orders.length, 2);
  const include = orders.map((order) => order.id);
  assert.equal((await answer(shop, "get_wc_v3_orders", { include })).length, 2);
  assert.match(await failure(shop, "get_wc_v3_orders_by_id", { id: 99999999 }), /not found\."$/);
  await shop.close();
});

step("ends", async () => {
  await reader.close();
  await writer.close();
});
