// The npm package `@wordpress/api-fetch`, as a page of the site would use it.
"use strict";

const { default: apiFetch } = require("@wordpress/api-fetch");
const { assert, pair, refusal, site, step } = require("./session.cjs");

// Its fallback for a request without an address reads the page's; there is none here.
globalThis.window = globalThis;

const basic = (name) => {
  const { user, password } = pair(name);
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
};

let authorization = basic("admin");
let post;

apiFetch.use((options, next) => {
  const headers = { ...options.headers };
  if (authorization) {
    headers.Authorization = authorization;
  }
  return next({ ...options, headers });
});
apiFetch.use(apiFetch.createRootURLMiddleware(`${site}/wp-json/`));

step("reads the index below the root address", async () => {
  const index = await apiFetch({ path: "/" });
  assert.ok(index.namespaces.includes("wp/v2"));
  assert.ok(index.authentication["application-passwords"].endpoints.authorization.startsWith(site));
});

step("reads by namespace and endpoint", async () => {
  const me = await apiFetch({ namespace: "wp/v2", endpoint: "users/me" });
  assert.equal(me.slug, "admin");
});

step("reads the totals from the headers of an unparsed answer", async () => {
  const answer = await apiFetch({ path: "/wp/v2/pages?per_page=2", parse: false });
  assert.equal(answer.status, 200);
  const total = Number(answer.headers.get("X-WP-Total"));
  assert.ok(total > 2);
  assert.equal(Number(answer.headers.get("X-WP-TotalPages")), Math.ceil(total / 2));
  assert.match(answer.headers.get("Link"), /page=2[^>]*>; rel="next"/);
  assert.equal((await answer.json()).length, 2);
});

step("fetches everything where no page size is given", async () => {
  const answer = await apiFetch({ path: "/wp/v2/pages?per_page=1", parse: false });
  const all = await apiFetch({ path: "/wp/v2/pages?per_page=-1" });
  assert.equal(all.length, Number(answer.headers.get("X-WP-Total")));
});

step("creates a post", async () => {
  const data = { title: "From api-fetch", status: "draft" };
  post = await apiFetch({ path: "/wp/v2/posts", method: "POST", data });
  assert.equal(post.title.raw, "From api-fetch");
});

step("updates it by a POST that stands for a PUT", async () => {
  const path = `/wp/v2/posts/${post.id}`;
  const changed = await apiFetch({ path, method: "PUT", data: { title: "Changed" } });
  assert.equal(changed.title.raw, "Changed");
  const patched = await apiFetch({ path, method: "PATCH", data: { excerpt: "Short" } });
  assert.equal(patched.excerpt.raw, "Short");
  assert.equal(patched.title.raw, "Changed");
});

step("reads an item for editing, in the user's language", async () => {
  const one = await apiFetch({ path: `/wp/v2/posts/${post.id}?context=edit&_locale=user` });
  assert.equal(one.title.raw, "Changed");
});

step("asks for the rights on an item", async () => {
  const path = `/wp/v2/posts/${post.id}`;
  const answer = await apiFetch({ path, method: "OPTIONS", parse: false });
  const allowed = answer.headers.get("Allow").split(", ");
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
    assert.ok(allowed.includes(method), `${method} is not among ${allowed}`);
  }
});

step("sends many requests at once", async () => {
  const requests = [
    { path: "/wp/v2/posts", body: { title: "One of many", status: "draft" } },
    { path: "/wp/v2/posts", body: { title: "Bad", status: "bogus" } },
    { path: `/wp/v2/posts/${post.id}?force=true`, method: "DELETE" },
  ];
  const { responses } = await apiFetch({ path: "/batch/v1", method: "POST", data: { requests } });
  assert.deepEqual(responses.map((one) => one.status), [201, 400, 200]);
  assert.equal(responses[1].body.code, "rest_invalid_param");
  assert.equal(responses[2].body.deleted, true);
});

step("deletes by a POST that stands for a DELETE", async () => {
  const made = await apiFetch({ path: "/wp/v2/posts", method: "POST", data: { title: "Gone" } });
  const path = `/wp/v2/posts/${made.id}?force=true`;
  const deleted = await apiFetch({ path, method: "DELETE" });
  assert.equal(deleted.deleted, true);
  assert.equal(deleted.previous.id, made.id);
});

step("is told why it is refused", async () => {
  const missing = await refusal(apiFetch({ path: "/wp/v2/nothing" }));
  assert.equal(missing.code, "rest_no_route");
  assert.equal(missing.data.status, 404);
  authorization = undefined;
  const stranger = await refusal(apiFetch({ path: "/wp/v2/users/me" }));
  assert.equal(stranger.code, "rest_not_logged_in");
  authorization = "Basic !!!";
  assert.ok(Array.isArray(await apiFetch({ path: "/wp/v2/posts" })));
});

step("a nonce without a session is a nonce of nobody", async () => {
  authorization = undefined;
  const nonce = apiFetch.createNonceMiddleware("0000000000");
  // What the library would fetch after this refusal: a new nonce, for a caller who has a session.
  apiFetch.nonceMiddleware = nonce;
  apiFetch.nonceEndpoint = `${site}/nowhere/at/all`;
  apiFetch.use(nonce);
  const reason = await refusal(apiFetch({ path: "/wp/v2/posts" }));
  assert.equal(reason.code, "rest_cookie_invalid_nonce");
  assert.equal(reason.data.status, 403);
  apiFetch.unregister(nonce);
});
