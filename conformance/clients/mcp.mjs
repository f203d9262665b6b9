// npm `server-wp-mcp`: a server of the Model Context Protocol, started as an assistant starts it and
// spoken to over its standard input and output.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const require = createRequire(import.meta.url);
const { assert, pair, refusal, site, step } = require("./session.cjs");

const admin = pair("admin");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mcp-"));
const sites = path.join(folder, "sites.json");
const own = { URL: site, USER: admin.user, PASS: admin.password };
fs.writeFileSync(sites, JSON.stringify({ shop: own }), { mode: 0o600 });

const client = new Client({ name: "boardwalk-session", version: "1.0.0" });

async function tool(name, args) {
  const answer = await client.callTool({ name, arguments: { site: "shop", ...args } });
  return JSON.parse(answer.content[0].text);
}
const ask = (method, endpoint, params) =>
  tool("wp_call_endpoint", { method, endpoint, params });

step("starts, and lists its tools", async () => {
  const server = require.resolve("server-wp-mcp/dist/index.js");
  const env = { ...process.env, WP_SITES_PATH: sites };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [server], env }));
  const { tools } = await client.listTools();
  assert.ok(tools.some((one) => one.name === "wp_call_endpoint"));
});

step("discovers the routes", async () => {
  const routes = await tool("wp_discover_endpoints", {});
  const paths = routes.flatMap((one) => one.endpoints);
  for (const wanted of ["/wc/v3/orders", "/wp/v2/posts", "/wc-analytics/reports/revenue/stats"]) {
    assert.ok(paths.includes(wanted), wanted);
  }
});

step("writes a post, changes it, finds it, deletes it", async () => {
  const made = await ask("POST", "/wp/v2/posts", { title: "Tides", status: "publish" });
  const changed = await ask("PUT", `/wp/v2/posts/${made.id}`, { title: "High tides" });
  assert.equal(changed.title.rendered, "High tides");
  const found = await ask("GET", "/wp/v2/posts", { search: "High tides", per_page: 5 });
  assert.deepEqual(
    found.map((one) => one.id),
    [made.id],
  );
  const gone = await ask("DELETE", `/wp/v2/posts/${made.id}?force=true`);
  assert.equal(gone.deleted, true);
  await refusal(ask("GET", `/wp/v2/posts/${made.id}`));
});

step("sells something and reads a report", async () => {
  const product = await ask("POST", "/wc/v3/products", {
    name: "Chart",
    regular_price: "9.00",
    tax_status: "none",
  });
  const order = await ask("POST", "/wc/v3/orders", {
    set_paid: true,
    line_items: [{ product_id: product.id, quantity: 2 }],
  });
  assert.equal(order.total, "18.00");
  const first = await ask("GET", "/wc/v3/orders", { per_page: 2, page: 1 });
  const second = await ask("GET", "/wc/v3/orders", { per_page: 2, page: 2 });
  assert.equal(new Set([...first, ...second].map((one) => one.id)).size, 4);
  const report = await ask("GET", "/wc-analytics/reports/revenue/stats", {
    after: "2020-01-01T00:00:00",
    before: "2030-01-01T00:00:00",
    interval: "year",
  });
  assert.ok(report.totals.orders_count > 0, JSON.stringify(report.totals));
  await ask("DELETE", `/wc/v3/orders/${order.id}?force=true`);
  await ask("DELETE", `/wc/v3/products/${product.id}?force=true`);
});

step("ends", async () => {
  await client.close();
  fs.rmSync(folder, { recursive: true });
});
