// For which ISO the user works: the one that the account is bound to, or one that an administrator
// has chosen. Requests of the onboarding interface carry it.
import { get as plainGet, rest, send, write as plainWrite, type Json, type Query } from './api';
import { session } from './session.svelte';

export interface Iso {
  isoId: string;
  name: string;
}

const KEPT = 'iso';

class Chosen {
  id = $state(localStorage.getItem(KEPT) ?? '');

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
export const goesOn = <T>(page: Listed<T>): string | number | null => (page.hasMore === false ? null : (page.next ?? page.nextCursor ?? null));

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const answer = await send(`/v1/${path}`, { query, signal, headers: iso.headers });
  return (await answer.json()) as T;
}

export function write<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: Json, headers: Record<string, string> = {}): Promise<T> {
  return plainWrite<T>(method, `/v1/${path}`, body ?? {}, { ...iso.headers, ...headers });
}

/** All ISOs, for those who administer them. */
export const isos = (signal?: AbortSignal): Promise<Iso[]> => plainGet<Iso[]>(rest('boardwalk/v1/isos'), {}, signal);
