// For which ISO the user works: the one that the account is bound to, or one that an administrator
// has chosen. Requests of the onboarding interface carry it.
import {
  get as plainGet,
  ApiError,
  rest,
  send,
  write as plainWrite,
  type Json,
  type Query,
} from './api';
import { session } from './session.svelte';
import { texts } from './texts';

export interface Iso {
  isoId: string;
  name: string;
}

const KEPT = 'iso';

class Chosen {
  id = $state(localStorage.getItem(KEPT) ?? '');
  /** All ISOs, for those who administer them. */
  list = $state.raw<Iso[]>();
  #asked: Promise<void> | undefined;

  /** Whether the user works for one ISO and has no choice. */
  get isBound(): boolean {
    return Boolean(session.me?.user.iso_id);
  }

  /** Waits until it is known which ISO is meant: the one chosen last if it is still there, or the first. */
  async known(): Promise<void> {
    if (this.isBound) return;
    this.#asked ??= plainGet<Iso[]>(rest('boardwalk/v1/isos')).then((list) => {
      this.list = list;
      if (!list.some((one) => one.isoId === this.id)) this.choose(list[0]?.isoId ?? '');
    });
    this.#asked.catch(() => (this.#asked = undefined));
    await this.#asked;
    if (this.isMissing) throw new ApiError(0, 'no_iso', texts.iso.none);
  }

  get current(): string {
    return session.me?.user.iso_id ?? this.id;
  }

  /** Whether one has to be chosen first. */
  get isMissing(): boolean {
    return this.current === '';
  }

  choose(id: string): void {
    this.id = id;
    localStorage.setItem(KEPT, id);
  }

  get headers(): Record<string, string> {
    return this.current ? { 'X-Iso-Id': this.current } : {};
  }
}

export const iso = new Chosen();

export interface Listed<T> {
  data: T[];
  next?: string | number | null;
  nextCursor?: string | number | null;
  /** Lists that never end tell whether there is more already. */
  hasMore?: boolean;
}

/** Where the list goes on; nothing at its end. */
export const goesOn = <T>(page: Listed<T>): string | number | null =>
  page.hasMore === false ? null : (page.next ?? page.nextCursor ?? null);

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  // Read before anything is waited for, so that another choice loads again.
  void iso.current;
  await iso.known();
  return getOf<T>(iso.current, path, query, signal);
}

/** The same of an ISO that is named, for operators. */
export async function getOf<T>(
  isoId: string,
  path: string,
  query: Query = {},
  signal?: AbortSignal,
): Promise<T> {
  const headers: Record<string, string> = isoId ? { 'X-Iso-Id': isoId } : {};
  const answer = await send(`/v1/${path}`, { query, signal, headers });
  return (await answer.json()) as T;
}

export function write<T>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: Json,
  headers: Record<string, string> = {},
): Promise<T> {
  return plainWrite<T>(method, `/v1/${path}`, body ?? {}, { ...iso.headers, ...headers });
}
