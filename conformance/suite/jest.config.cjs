// Runs the test files of the package as they are, with plain jest: the runner and the reporter that
// the package's own configuration names do nothing on today's Node. BASE_URL, USER_KEY and
// USER_SECRET are the variables that the package itself reads.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

// Jest finds no tests below node_modules, so it gets a copy beside it.
const installed = path.dirname(require.resolve("@woocommerce/api-core-tests/package.json"));
const copy = path.join(__dirname, "api-core-tests");
fs.cpSync(installed, copy, { recursive: true });

module.exports = {
  rootDir: copy,
  globals: { API_PATH: `${process.env.BASE_URL}/wp-json/wc/v3/` },
  // The files count what there is, so they must come one after the other.
  maxWorkers: 1,
  testTimeout: 60_000,
};
