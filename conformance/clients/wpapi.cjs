// The npm package `wpapi`: finds the interface from a page's address, reads, writes and is refused.
"use strict";

const WPAPI = require("wpapi");
const { assert, pair, refusal, site, step } = require("./session.cjs");

const { user, password } = pair("admin");
let api;
let admin;
let post;

step("finds the interface through the Link header of the front page", async () => {
  api = await WPAPI.discover(site);
  assert.equal(typeof api.posts, "function");
  assert.equal(typeof api.namespace("oembed/1.0").embed, "function");
  admin = await WPAPI.discover(site);
  admin.auth({ username: user, password });
});

step("lists the published posts with their totals", async () => {
  const posts = await api.posts().get();
  assert.ok(Array.isArray(posts) && posts.length > 0);
  assert.equal(posts._paging.total, posts.length);
  assert.equal(posts[0].slug, "hello-world");
  assert.equal(posts[0].status, "publish");
});

step("reads one post, and only the asked fields of it", async () => {
  const one = await api.posts().id(1).get();
  assert.equal(one.id, 1);
  const few = await api.posts().id(1).param("_fields", "id,title.rendered").get();
  assert.deepEqual(Object.keys(few).sort(), ["id", "title"]);
  assert.deepEqual(Object.keys(few.title), ["rendered"]);
});

step("reads an author along with a post", async () => {
  const one = await api.posts().id(1).embed().get();
  assert.equal(one._embedded.author[0].id, 1);
});

step("finds pages by their slug", async () => {
  const pages = await api.pages().slug("sample-page").get();
  assert.deepEqual(pages.map((page) => page.slug), ["sample-page"]);
});

step("walks from page to page", async () => {
  const first = await api.pages().perPage(1).order("asc").orderby("id").get();
  assert.equal(first.length, 1);
  assert.ok(first._paging.totalPages > 1);
  const second = await first._paging.next.get();
  assert.notEqual(second[0].id, first[0].id);
  const back = await second._paging.prev.get();
  assert.equal(back[0].id, first[0].id);
});

step("knows who it is", async () => {
  const me = await admin.users().me().get();
  assert.equal(me.slug, "admin");
  const all = await admin.users().me().context("edit").get();
  assert.ok(all.roles.includes("administrator"));
});

step("creates a post", async () => {
  post = await admin.posts().create({ title: "From wpapi", content: "First", status: "draft" });
  assert.equal(post.status, "draft");
  assert.equal(post.title.raw, "From wpapi");
});

step("does not show a draft to everybody", async () => {
  const reason = await refusal(api.posts().id(post.id).get());
  assert.equal(reason.code, "rest_forbidden");
  assert.equal(reason.data.status, 401);
});

step("updates the post and publishes it", async () => {
  const changed = await admin
    .posts()
    .id(post.id)
    .update({ title: "From wpapi again", status: "publish" });
  assert.equal(changed.title.raw, "From wpapi again");
  assert.equal(changed.status, "publish");
  const seen = await api.posts().id(post.id).get();
  assert.equal(seen.title.rendered, "From wpapi again");
  const found = await api.posts().search("wpapi again").get();
  assert.deepEqual(found.map((one) => one.id), [post.id]);
});

step("puts the post into the trash, then deletes it", async () => {
  const trashed = await admin.posts().id(post.id).delete();
  assert.equal(trashed.status, "trash");
  const deleted = await admin.posts().id(post.id).delete({ force: true });
  assert.equal(deleted.deleted, true);
  assert.equal(deleted.previous.id, post.id);
  const reason = await refusal(admin.posts().id(post.id).get());
  assert.equal(reason.code, "rest_post_invalid_id");
});

step("reads types, statuses and taxonomies", async () => {
  assert.equal((await api.types().get()).post.rest_base, "posts");
  assert.equal((await api.statuses().get()).publish.slug, "publish");
  assert.equal((await api.taxonomies().get()).category.rest_base, "categories");
});

step("changes a setting and puts it back", async () => {
  const before = await admin.settings().get();
  const changed = await admin.settings().update({ title: "Renamed" });
  assert.equal(changed.title, "Renamed");
  const after = await admin.settings().update({ title: before.title });
  assert.deepEqual(after, before);
});

step("is told what is wrong with a parameter", async () => {
  const reason = await refusal(api.posts().param("per_page", 0).get());
  assert.equal(reason.code, "rest_invalid_param");
  assert.equal(reason.data.details.per_page.code, "rest_out_of_bounds");
});

step("is refused with a wrong password, and without any", async () => {
  const wrong = new WPAPI({ endpoint: `${site}/wp-json`, username: user, password: "wrong" });
  const reason = await refusal(wrong.users().me().auth().get());
  assert.equal(reason.code, "incorrect_password");
  assert.equal(reason.data.status, 401);
  assert.equal((await refusal(api.posts().create({ title: "No" }))).code, "rest_cannot_create");
  assert.equal((await refusal(api.users().me().get())).code, "rest_not_logged_in");
});

step("is refused where it lacks the right", async () => {
  const { user: login, password: secret } = pair("subscriber");
  const low = new WPAPI({ endpoint: `${site}/wp-json`, username: login, password: secret });
  const reason = await refusal(low.posts().create({ title: "No" }));
  assert.equal(reason.code, "rest_cannot_create");
  assert.equal(reason.data.status, 403);
});
