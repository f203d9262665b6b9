// What somebody has arranged for themselves: saved views and chosen columns. The server keeps it with the
// user, among the preferences that other programs keep there, so that it is the same in every browser.
import { get, rest, write, type Json } from './api';
import { session } from './session.svelte';

export interface View {
  name: string;
  /** The parameters of the address, without the page. */
  query: string;
}

interface Arranged {
  views?: Record<string, View[]>;
  columns?: Record<string, string[]>;
}

/** Ours among the preferences. */
const SCOPE = 'boardwalk/portal';
const path = (): string => rest(`wp/v2/users/${session.me?.user.id}`);

/** No preferences at all are an empty list. */
type Stored = Record<string, Json> | [];

async function read(): Promise<Record<string, Json>> {
  const user = await get<{ meta?: { persisted_preferences?: Stored } }>(path(), {
    context: 'edit',
    _fields: 'meta',
  });
  const stored = user.meta?.persisted_preferences;
  return Array.isArray(stored) || !stored ? {} : stored;
}

class Preferences {
  #arranged = $state.raw<Arranged>({});
  #isAsked = false;

  /** Reads them once; a list is shown as usual until then, and if they cannot be read. */
  open(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    read().then(
      (all) => (this.#arranged = (all[SCOPE] as Arranged | undefined) ?? {}),
      () => (this.#isAsked = false),
    );
  }

  views(list: string): View[] {
    return this.#arranged.views?.[list] ?? [];
  }

  columns(list: string): string[] | undefined {
    return this.#arranged.columns?.[list];
  }

  setViews(list: string, views: View[]): Promise<void> {
    return this.#change((now) => ({ ...now, views: { ...now.views, [list]: views } }));
  }

  setColumns(list: string, columns: string[]): Promise<void> {
    return this.#change((now) => ({ ...now, columns: { ...now.columns, [list]: columns } }));
  }

  /** Another browser may have changed them meanwhile: what is there now is changed, not what was read. */
  async #change(change: (now: Arranged) => Arranged): Promise<void> {
    this.#arranged = change(this.#arranged);
    const all = await read();
    const mine = change((all[SCOPE] as Arranged | undefined) ?? {});
    await write('POST', path(), {
      meta: { persisted_preferences: { ...all, [SCOPE]: mine as unknown as Json } },
    });
    this.#arranged = mine;
  }
}

/** The parameters of a view: the page is none of them, and their order means nothing. */
export function viewQuery(query: URLSearchParams): string {
  const parts = new URLSearchParams(query);
  parts.delete('page');
  parts.sort();
  return parts.toString();
}

export const preferences = new Preferences();
