// The npm package `@wordpress/core-data`, the records of the reference's own editor: every entity that
// it knows is listed and read, and those that people write are created, edited and deleted.
"use strict";

// It is made for a page, and looks at one while it is loaded. Nothing here is ever shown.
require("./page.cjs");

const { createRequire } = require("node:module");
const { assert, pair, site, step } = require("./session.cjs");

// The very copies that the package itself uses.
const fromPackage = createRequire(require.resolve("@wordpress/core-data"));
const { store } = require("@wordpress/core-data");
const { dispatch, resolveSelect, select } = fromPackage("@wordpress/data");
const apiFetch = fromPackage("@wordpress/api-fetch").default;

const { user, password } = pair("admin");
const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
apiFetch.use((options, next) =>
  next({ ...options, headers: { ...options.headers, Authorization: authorization } }),
);
apiFetch.use(apiFetch.createRootURLMiddleware(`${site}/wp-json/`));

const RUN = Date.now().toString(36);
/** Entities that are one record, or that have no list of their own. */
const SINGLE = [
  "root/__unstableBase",
  "root/site",
  "root/globalStyles",
  "postType/wp_global_styles",
  // Faces are listed below their families only.
  "postType/wp_font_face",
];
/** Lists that a site of this kind may have nothing in. */
const MAY_BE_EMPTY = [
  "root/media",
  "root/comment",
  "root/menu",
  "root/menuItem",
  "root/menuLocation",
  "root/widget",
  "root/plugin",
  "root/fontCollection",
];

/** What people write: what a new record has, what is changed of it, and how it is deleted. */
const texts = (title) => ({ title, content: "<!-- wp:paragraph --><p>Tide</p><!-- /wp:paragraph -->" });
const WRITTEN = {
  "postType/post": { make: { ...texts(`Post ${RUN}`), status: "publish" }, edit: { title: "Changed" } },
  "postType/page": { make: { ...texts(`Page ${RUN}`), status: "publish" }, edit: { title: "Changed" } },
  "postType/product": { make: { title: `Product ${RUN}`, status: "publish" }, edit: { title: "Changed" } },
  "postType/wp_block": { make: { ...texts(`Block ${RUN}`), status: "publish" }, edit: { title: "Changed" } },
  "postType/wp_navigation": {
    make: { ...texts(`Menu ${RUN}`), status: "publish" },
    edit: { title: "Changed" },
  },
  "postType/wp_template": {
    make: { slug: `template-${RUN}`, title: `Template ${RUN}`, content: "<!-- wp:post-title /-->" },
    edit: { title: "Changed" },
  },
  "postType/wp_template_part": {
    make: { slug: `part-${RUN}`, title: `Part ${RUN}`, content: "<!-- wp:site-title /-->", area: "header" },
    edit: { title: "Changed" },
  },
  "taxonomy/category": { make: { name: `Category ${RUN}` }, edit: { name: "Changed" } },
  "taxonomy/post_tag": { make: { name: `Tag ${RUN}` }, edit: { name: "Changed" } },
  "taxonomy/wp_pattern_category": { make: { name: `Patterns ${RUN}` }, edit: { name: "Changed" } },
  "taxonomy/product_cat": { make: { name: `Goods ${RUN}` }, edit: { name: "Changed" } },
  "taxonomy/product_tag": { make: { name: `Mark ${RUN}` }, edit: { name: "Changed" } },
  "taxonomy/product_brand": { make: { name: `Brand ${RUN}` }, edit: { name: "Changed" } },
  "root/menu": { make: { name: `Menu ${RUN}` }, edit: { name: "Changed" } },
  "root/user": {
    make: { username: `user-${RUN}`, email: `${RUN}@example.test`, password: `long and ${RUN} enough` },
    edit: { nickname: "Changed" },
    query: { force: true, reassign: 1 },
  },
  "root/widget": {
    make: {
      id_base: "block",
      sidebar: "wp_inactive_widgets",
      instance: { raw: { content: "<p>Tide</p>" } },
    },
    edit: { instance: { raw: { content: "<p>Changed</p>" } } },
  },
};

/** A field as it is edited, whatever it is shown as. */
const raw = (value) => value?.raw?.content ?? value?.raw ?? value;

let entities = [];

step("knows every entity", async () => {
  const known = [];
  for (const kind of ["root", "postType", "taxonomy"]) {
    known.push(...(await resolveSelect(store).getEntitiesConfig(kind)));
  }
  entities = known.filter(({ baseURL }) => baseURL);
  const names = entities.map(({ kind, name }) => `${kind}/${name}`);
  for (const name of Object.keys(WRITTEN)) assert.ok(names.includes(name), `${name} is not among ${names}`);
  assert.ok(entities.length > 25, `only ${names}`);
});

step("lists every entity, and reads its first record", async () => {
  for (const { kind, name, key = "id" } of entities) {
    const entity = `${kind}/${name}`;
    if (SINGLE.includes(entity)) continue;
    const query = { per_page: 2 };
    const records = await resolveSelect(store).getEntityRecords(kind, name, query);
    assert.ok(Array.isArray(records), `${entity} has no list`);
    if (records.length === 0) {
      const mayBeEmpty = MAY_BE_EMPTY.includes(entity) || kind !== "root";
      assert.ok(mayBeEmpty, `${entity} has nothing`);
      continue;
    }
    const id = records[0][key];
    assert.ok(id !== undefined, `${entity} is not known by ${key}`);
    const one = await resolveSelect(store).getEntityRecord(kind, name, id);
    assert.equal(one?.[key], id, `${entity} ${id} cannot be read`);
  }
});

step("reads what is one record", async () => {
  const base = await resolveSelect(store).getEntityRecord("root", "__unstableBase");
  assert.equal(base.name.length > 0, true);
  const settings = await resolveSelect(store).getEntityRecord("root", "site");
  assert.equal(typeof settings.title, "string");
  const styles = await resolveSelect(store).__experimentalGetCurrentGlobalStylesId();
  assert.ok(styles, "the theme has styles of its own");
  const own = await resolveSelect(store).getEntityRecord("root", "globalStyles", styles);
  assert.equal(own.id, Number(styles));
  const me = await resolveSelect(store).getCurrentUser();
  assert.ok(me.id > 0);
  const theme = await resolveSelect(store).getCurrentTheme();
  assert.equal(theme.status, "active");
});

for (const [entity, { make, edit, query = { force: true } }] of Object.entries(WRITTEN)) {
  const [kind, name] = entity.split("/");
  step(`creates, edits and deletes ${entity}`, async () => {
    const { key = "id" } = entities.find((one) => one.kind === kind && one.name === name);
    const loud = { throwOnError: true };
    const made = await dispatch(store).saveEntityRecord(kind, name, make, loud);
    const id = made[key];
    assert.ok(id, `${entity} got no ${key}`);
    await resolveSelect(store).getEntityRecord(kind, name, id);
    await dispatch(store).editEntityRecord(kind, name, id, edit);
    assert.equal(select(store).hasEditsForEntityRecord(kind, name, id), true);
    const saved = await dispatch(store).saveEditedEntityRecord(kind, name, id, loud);
    for (const [field, value] of Object.entries(edit)) {
      assert.deepEqual(raw(saved[field]), raw(value), `${entity}.${field}`);
    }
    await dispatch(store).deleteEntityRecord(kind, name, id, query, loud);
    assert.equal(select(store).getLastEntityDeleteError(kind, name, id), undefined);
    const { baseURL } = entities.find((one) => one.kind === kind && one.name === name);
    const refused = await apiFetch({ path: `${baseURL}/${id}` }).then(() => undefined, (error) => error);
    assert.equal(refused?.data?.status, 404, `${entity} ${id} is still there`);
  });
}

step("writes a comment, an item of a menu and a setting", async () => {
  const loud = { throwOnError: true };
  const save = (kind, name, record) => dispatch(store).saveEntityRecord(kind, name, record, loud);
  const remove = (kind, name, id) => dispatch(store).deleteEntityRecord(kind, name, id, { force: true }, loud);
  const post = await save("postType", "post", { title: `Talk ${RUN}`, status: "publish" });
  const comment = await save("root", "comment", { post: post.id, content: "First" });
  const changed = await save("root", "comment", { id: comment.id, content: "Second" });
  assert.equal(changed.content.raw, "Second");
  await remove("root", "comment", comment.id);
  const menu = await save("root", "menu", { name: `Places ${RUN}` });
  const item = await save("root", "menuItem", {
    title: "Home",
    url: site,
    menus: menu.id,
    status: "publish",
  });
  const renamed = await save("root", "menuItem", { id: item.id, title: "Front" });
  assert.equal(renamed.title.raw, "Front");
  await remove("root", "menuItem", item.id);
  await remove("root", "menu", menu.id);
  await remove("postType", "post", post.id);
  const { description } = await resolveSelect(store).getEntityRecord("root", "site");
  await dispatch(store).editEntityRecord("root", "site", undefined, { description: `Tide ${RUN}` });
  await dispatch(store).saveEditedEntityRecord("root", "site", undefined, loud);
  const settings = await apiFetch({ path: "/wp/v2/settings" });
  assert.equal(settings.description, `Tide ${RUN}`);
  await save("root", "site", { description });
});

step("keeps what somebody types, and shows the versions of a page", async () => {
  const loud = { throwOnError: true };
  const page = await dispatch(store).saveEntityRecord(
    "postType",
    "page",
    { title: `Draft ${RUN}`, content: "One", status: "publish" },
    loud,
  );
  await dispatch(store).saveEntityRecord("postType", "page", { id: page.id, content: "Two" }, loud);
  const revisions = await resolveSelect(store).getRevisions("postType", "page", page.id);
  assert.ok(revisions.length > 0, "a changed page has a version");
  await dispatch(store).saveEntityRecord(
    "postType",
    "page",
    { id: page.id, content: "Three" },
    { isAutosave: true, ...loud },
  );
  const typed = await resolveSelect(store).getAutosaves("page", page.id);
  assert.equal(typed[0].content.raw, "Three");
  await dispatch(store).deleteEntityRecord("postType", "page", page.id, { force: true }, loud);
});

step("asks what the user may do", async () => {
  for (const [action, resource, expected] of [
    ["create", { kind: "postType", name: "page" }, true],
    ["create", "media", true],
    ["read", { kind: "root", name: "site" }, true],
  ]) {
    const may = await resolveSelect(store).canUser(action, resource);
    assert.equal(may, expected, `${action} ${JSON.stringify(resource)}`);
  }
});
