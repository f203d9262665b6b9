// The npm package `@woocommerce/data`, the data layer of the reference's own administration: its
// selectors read reports and lists of Boardwalk as they read those of the reference.
"use strict";

// It is made for a page, and looks at one while it is loaded. Nothing here is ever shown.
require("./page.cjs");

const { createRequire } = require("node:module");
const { resolveSelect } = require("@wordpress/data");
const { importStore, itemsStore, reportsStore } = require("@woocommerce/data");
const { assert, pair, site, step } = require("./session.cjs");

// The very copies that the package sends its requests with: its own, and that of the controls by
// which some of its stores ask.
const fromPackage = createRequire(require.resolve("@woocommerce/data"));
const fromControls = createRequire(fromPackage.resolve("@wordpress/data-controls"));
const copies = new Set([fromPackage, fromControls].map((from) => from("@wordpress/api-fetch").default));

const { user, password } = pair("admin");
const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
for (const apiFetch of copies) {
  apiFetch.use((options, next) =>
    next({ ...options, headers: { ...options.headers, Authorization: authorization } }),
  );
  apiFetch.use(apiFetch.createRootURLMiddleware(`${site}/wp-json/`));
}

const range = { after: "2025-09-01T00:00:00", before: "2026-11-14T23:59:59" };
const monthly = { ...range, interval: "month", per_page: 100, order: "asc" };

const sum = (rows, name) => rows.reduce((total, row) => total + row.subtotals[name], 0);
const near = (one, other) => assert.ok(Math.abs(one - other) < 0.005, `${one} is not ${other}`);

for (const [report, counts] of [
  ["revenue", ["total_sales", "net_revenue", "gross_sales", "taxes", "shipping", "refunds"]],
  ["orders", ["net_revenue", "num_items_sold", "orders_count"]],
  ["products", ["items_sold", "net_revenue"]],
]) {
  step(`reads the report ${report} over time`, async () => {
    const stats = await resolveSelect(reportsStore).getReportStats(report, monthly);
    assert.equal(stats.totalResults, 15);
    assert.equal(stats.totalPages, 1);
    const { intervals, totals } = stats.data;
    assert.deepEqual(intervals.map((one) => one.interval).slice(0, 2), ["2025-09", "2025-10"]);
    for (const name of counts) {
      near(sum(intervals, name), totals[name]);
    }
    assert.ok(totals[counts[0]] > 0);
  });
}

step("reads the rows of reports, page by page", async () => {
  const query = { ...range, per_page: 10, orderby: "items_sold", extended_info: true };
  const first = await resolveSelect(reportsStore).getReportItems("products", query);
  const second = await resolveSelect(reportsStore).getReportItems("products", { ...query, page: 2 });
  assert.equal(first.data.length, 10);
  assert.equal(first.totalPages, Math.ceil(first.totalResults / 10));
  const sold = [...first.data, ...second.data].map((row) => row.items_sold);
  assert.deepEqual(sold, [...sold].sort((one, other) => other - one));
  assert.ok(first.data.every((row) => row.extended_info.name.length > 0));
});

step("reads orders and revenue that agree", async () => {
  const orders = await resolveSelect(reportsStore).getReportItems("orders", {
    ...range,
    per_page: 1,
    refunds: "none",
  });
  const stats = await resolveSelect(reportsStore).getReportStats("orders", monthly);
  assert.equal(orders.totalResults, stats.data.totals.orders_count);
});

step("reads customers and leaderboards as items", async () => {
  const query = { per_page: 5, orderby: "total_spend", order: "desc" };
  const customers = await resolveSelect(itemsStore).getItems("customers", query);
  assert.equal(customers.size, 5);
  const spent = [...customers.values()].map((customer) => customer.total_spend);
  assert.ok(spent[0] > 0);
  const total = await resolveSelect(itemsStore).getItemsTotalCount("customers", {}, 0);
  assert.ok(total > 5, `${total} customers`);
  const boards = await resolveSelect(itemsStore).getItems("leaderboards", { ...range, per_page: 3 });
  const names = [...boards.values()].map((board) => board.id);
  assert.deepEqual(names, ["customers", "coupons", "categories", "products"]);
});

step("reads how far imports are", async () => {
  const status = await resolveSelect(importStore).getImportStatus(0);
  assert.equal(status.is_importing, false);
  assert.equal(status.orders.imported, status.orders.total);
  const totals = await resolveSelect(importStore).getImportTotals({ skip_existing: false });
  assert.equal(totals.orders, status.orders.total);
});

step("is told why a report is refused", async () => {
  const query = { ...range, orderby: "colour" };
  const refused = await resolveSelect(reportsStore).getReportItems("products", query);
  assert.deepEqual(refused?.data ?? [], []);
  const { select } = require("@wordpress/data");
  const error = select(reportsStore).getReportItemsError("products", query);
  assert.equal(error.code, "rest_invalid_param");
});
