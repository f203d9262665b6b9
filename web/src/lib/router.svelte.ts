// The address is the state: every view has its own, and the back button works. Pages are loaded when
// they are first opened.
import type { Component } from 'svelte';
import { unsaved } from './unsaved.svelte';

export const BASE = '/portal';

export interface Route {
  /** Below the base; `:name` stands for one segment. */
  path: string;
  // A page may do without the variables of its path.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  load: () => Promise<{ default: Component<any> }>;
  /** Whether people without an account may see it. */
  isOpen?: boolean;
}

export type Params = Record<string, string>;

class Location {
  path = $state('');
  query = $state(new URLSearchParams());

  constructor() {
    this.read();
    addEventListener('popstate', () => this.goBack());
    addEventListener('click', (event) => this.follow(event));
  }

  private read(): void {
    const url = new URL(location.href);
    this.path = url.pathname.slice(BASE.length).replace(/\/$/, '') || '/';
    this.query = url.searchParams;
  }

  /** The browser has moved already: where somebody may want to stay, it is moved back first. */
  private goBack(): void {
    const target = location.pathname + location.search;
    const own = this.path === '/' ? '/' : this.path;
    if (target.split('?')[0] === BASE + own) return this.read();
    const query = this.query.toString();
    const isLeaving = unsaved.leave(() => {
      if (location.pathname + location.search === target) this.read();
      else this.move(target, false);
    });
    if (!isLeaving) history.pushState(null, '', BASE + own + (query ? `?${query}` : ''));
  }

  /** Links within the portal need no new document. */
  private follow(event: MouseEvent): void {
    const link = (event.target as Element | null)?.closest?.('a');
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!link || !isPlain || link.target || link.hasAttribute('download')) return;
    if (link.origin !== location.origin || !isInside(link.pathname)) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    this.go(link.pathname.slice(BASE.length) + link.search);
  }

  /** Opens any address: one of the portal without a new document. */
  open(address: string): void {
    const url = new URL(address, location.href);
    if (url.origin === location.origin && isInside(url.pathname))
      this.go(url.pathname.slice(BASE.length) + url.search);
    else location.assign(url);
  }

  /** Opens a path below the base. */
  go(path: string, isReplacement = false): void {
    const isElsewhere = path.split('?')[0] !== this.path;
    if (isElsewhere) unsaved.leave(() => this.move(BASE + path, isReplacement));
    else this.move(BASE + path, isReplacement);
  }

  private move(target: string, isReplacement: boolean): void {
    if (isReplacement) history.replaceState(null, '', target);
    else history.pushState(null, '', target);
    const before = this.path;
    this.read();
    if (before !== this.path) scrollTo(0, 0);
  }

  /** The same page with other parameters; nothing or an empty text takes one away. */
  set(changes: Record<string, string | undefined>, isReplacement = false): void {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    const text = query.toString();
    this.go(this.path + (text ? `?${text}` : ''), isReplacement);
  }

  text(name: string, fallback = ''): string {
    return this.query.get(name) ?? fallback;
  }
}

function isInside(path: string): boolean {
  return path === BASE || path.startsWith(`${BASE}/`);
}

export const here = new Location();

export const to = (path: string): string => BASE + path;

/** When this address was loaded anew because a file of it was missing. */
const RELOADED = 'reloaded';
const RELOAD_MS = 30_000;
const RETRY_MS = 400;

/**
 * Loads the page. A file that did not come is asked for once more. If it is still missing, the server
 * has other files since an update: then the whole document is loaded anew, once.
 */
export async function loadPage(route: Route): ReturnType<Route['load']> {
  try {
    return await route.load();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  try {
    return await route.load();
  } catch (error) {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED) ?? 0) < RELOAD_MS) throw error;
    sessionStorage.setItem(RELOADED, String(Date.now()));
    location.reload();
    return new Promise(() => undefined);
  }
}

/** The first route that the path fits, with its variables. */
export function find(
  routes: readonly Route[],
  path: string,
): { route: Route; params: Params } | undefined {
  const wanted = path.split('/');
  for (const route of routes) {
    const pattern = route.path.split('/');
    if (pattern.length !== wanted.length) continue;
    const params: Params = {};
    const fits = pattern.every((part, index) => {
      const given = wanted[index] ?? '';
      if (!part.startsWith(':')) return part === given;
      params[part.slice(1)] = decodeURIComponent(given);
      return given !== '';
    });
    if (fits) return { route, params };
  }
  return undefined;
}
