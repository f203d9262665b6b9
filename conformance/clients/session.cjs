// What the sessions of the Node clients share: where the server is, who may come in, and steps that
// say what they checked. The first step that fails ends the session with status 1.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");

// Standard input has one object: `site`, the server's address, and `identities`, a map of names to
// `login:password`.
const { site, identities } = JSON.parse(fs.readFileSync(0, "utf8"));

const steps = [];

/** Adds a step; they run one after the other once the script is read. */
function step(name, work) {
  steps.push({ name, work });
}

/** The two halves of an identity. */
function pair(name) {
  const text = identities[name];
  assert.ok(text, `the session has no identity ${name}`);
  const colon = text.indexOf(":");
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** The reason for which a promise is refused; it is a failure if it is not. */
async function refusal(promise) {
  let value;
  try {
    value = await promise;
  } catch (reason) {
    return reason;
  }
  assert.fail(`expected a refusal, got ${JSON.stringify(value?.data ?? value).slice(0, 200)}`);
}

setImmediate(async () => {
  for (const { name, work } of steps) {
    try {
      await work();
    } catch (error) {
      console.error(`FAIL ${name}`);
      console.error(error instanceof Error ? error.stack : error);
      process.exit(1);
    }
    console.log(`ok   ${name}`);
  }
  assert.ok(steps.length > 0, "a session without steps checks nothing");
  console.log(`${steps.length} steps`);
});

module.exports = { assert, identities, pair, refusal, site, step };
