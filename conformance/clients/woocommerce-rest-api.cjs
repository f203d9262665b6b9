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
