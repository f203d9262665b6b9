// The least of a page that libraries for browsers want to see while they are loaded: objects that
// do nothing. What the sessions check goes over `fetch`, which Node has.
"use strict";

process.env.NODE_ENV = "production";

const nothing = () => {};
const element = () => ({
  addEventListener: nothing,
  appendChild: nothing,
  childNodes: [],
  children: [],
  classList: { add: nothing, remove: nothing },
  cloneNode: element,
  contains: () => false,
  getAttribute: () => null,
  hasAttribute: () => false,
  insertBefore: nothing,
  ownerDocument: null,
  querySelector: () => null,
  querySelectorAll: () => [],
  removeChild: nothing,
  removeEventListener: nothing,
  setAttribute: nothing,
  style: {},
});

globalThis.window = globalThis;
globalThis.document = {
  ...element(),
  body: element(),
  createElement: element,
  createTextNode: element,
  defaultView: globalThis,
  documentElement: element(),
  getElementById: () => null,
  head: element(),
  readyState: "complete",
};
globalThis.addEventListener ??= nothing;
globalThis.removeEventListener ??= nothing;
globalThis.location ??= new URL("http://localhost/");
globalThis.history ??= { go: nothing, length: 1, pushState: nothing, replaceState: nothing, state: null };
globalThis.navigator ??= { platform: "", userAgent: "node" };
globalThis.getComputedStyle ??= () => ({});
globalThis.matchMedia ??= () => ({ addEventListener: nothing, addListener: nothing, matches: false });
globalThis.requestAnimationFrame ??= (work) => setTimeout(work, 0);
globalThis.CSS ??= { supports: () => false };
globalThis.HTMLElement ??= class {};
globalThis.MutationObserver ??= class {
  disconnect() {}
  observe() {}
};
globalThis.wcSettings ??= {};
