// How `orval` makes clients of both documents.
"use strict";

const client = (name) => ({
  input: { target: `./${name}.json` },
  output: {
    target: `./orval/${name}.ts`,
    mode: "split",
    client: "fetch",
    override: { mutator: { path: "./orval-fetch.ts", name: "send" } },
  },
});

module.exports = { onboarding: client("onboarding"), rest: client("rest") };
