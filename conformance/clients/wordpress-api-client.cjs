// npm `wordpress-api-client`: a typed client of the content namespace, with an application password.
"use strict";

const { assert, pair, refusal, site, step } = require("./session.cjs");
const { AUTH_TYPE, default: WpApiClient } = require("wordpress-api-client");

const admin = pair("admin");
const auth = { type: AUTH_TYPE.BASIC, username: admin.user, password: admin.password };
// Failures are the caller's to handle.
const onError = (message) => {
  throw new Error(message);
};
const client = new WpApiClient(site, { auth, onError });

// Texts are given as they are read.
const text = (rendered) => ({ rendered });
let post;

step("writes a post, changes it, reads it", async () => {
  const made = await client.post().create({
    title: text("Buoys"),
    content: text("Red and green."),
    status: "publish",
  });
  post = made.id;
  const changed = await client.post().update({ title: text("Buoys and bells") }, post);
  assert.equal(changed.title.rendered, "Buoys and bells");
  const [read] = await client.post().find(post);
  assert.equal(read.id, post);
});

step("lists more posts than a page has", async () => {
  for (let number = 0; number < 12; number += 1) {
    await client.post().create({ title: text(`Entry ${number}`), status: "publish" });
  }
  const all = await client.post().dangerouslyFindAll();
  assert.ok(all.length > 12, `${all.length}`);
  assert.equal(new Set(all.map((one) => one.id)).size, all.length);
  const second = await client.post().find(new URLSearchParams({ page: "2", per_page: "5" }));
  assert.deepEqual(
    second.map((one) => one.id),
    all.slice(5, 10).map((one) => one.id),
  );
});

step("has revisions of the post", async () => {
  const revisions = await client.post().revision(post).find();
  assert.ok(Array.isArray(revisions));
});

step("makes a category and a tag, and deletes them", async () => {
  for (const terms of [client.postCategory(), client.postTag()]) {
    const made = await terms.create({ name: "Harbour lights" });
    const found = await terms.find(new URLSearchParams({ search: "Harbour lights" }));
    assert.ok(found.some((one) => one.id === made.id));
    await terms.delete(made.id);
    await refusal(terms.find(made.id));
  }
});

step("makes a page and knows who it is", async () => {
  const page = await client.page().create({ title: text("Moorings"), status: "draft" });
  assert.equal(page.status, "draft");
  await client.page().delete(page.id);
  const me = await client.user().findMe();
  assert.equal(me.slug, "admin");
});

step("reads and changes the settings", async () => {
  const before = await client.siteSettings().find();
  const changed = await client.siteSettings().update({ description: "By the sea" });
  assert.equal(changed.description, "By the sea");
  await client.siteSettings().update({ description: before.description });
});

step("deletes the post", async () => {
  await client.post().delete(post);
  const [trashed] = await client.post().find(post);
  assert.equal(trashed.status, "trash");
});
