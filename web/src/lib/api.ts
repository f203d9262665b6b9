// Requests to the server: the REST interface below /wp-json and the onboarding interface below /v1,
// both with the session's cookie and the nonce that proves that this page sends them.

import { freshness } from './analytics/freshness.svelte';
import { texts } from './texts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Query = Record<
  string,
  string | number | boolean | readonly (string | number)[] | undefined
>;

/** The code of the error that a session which ran out becomes. */
const SIGNED_OUT = 'signed_out';

/** An error of a request, at a field if there is one. */
export interface FieldError {
  code: string;
  message: string;
  field?: string;
}

/** An error response of the server. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly errors: FieldError[] = [],
    /** The body of the response. */
    readonly body?: unknown,
  ) {
    super(message);
  }

  get isSignedOut(): boolean {
    return this.code === SIGNED_OUT;
  }

  /** Whether the user is known, and may not do this. */
  get isForbidden(): boolean {
    return !this.isSignedOut && (this.status === 401 || this.status === 403);
  }

  /** Whether the ISO is suspended or not approved yet. */
  get isOfInactiveIso(): boolean {
    return this.code === 'iso_not_active';
  }
}

export interface Page<T> {
  items: T;
  total: number;
  pages: number;
}

interface Granted {
  nonce: string;
  /** The path that ends the session. */
  sign_out: string;
}

let granted: Granted | undefined;
/** Whether somebody was signed in here, and no longer is. */
let isOver = false;
let onOver = (): void => undefined;

/** Calls back once the server no longer knows the session. */
export function whenSessionEnds(call: () => void): void {
  onOver = call;
}

/** Where one signs in and comes back to this page. */
export const signInAddress = (): string =>
  `/login?redirect_to=${encodeURIComponent(location.pathname + location.search)}`;

let isRegistrationOpen = false;

/** Whether ISOs may register by themselves here, as far as the server was asked. */
export const mayRegister = (): boolean => isRegistrationOpen;

/** Asks for a new nonce. Gives whether somebody is signed in. */
export async function renewNonce(): Promise<boolean> {
  const answer = await fetch('/session/nonce', { headers: { Accept: 'application/json' } });
  if (!answer.ok) throw await errorOf(answer);
  const session = (await answer.json()) as Granted & { signed_in: boolean; registration: string };
  granted = session.signed_in ? session : undefined;
  isRegistrationOpen = session.registration === 'open';
  return granted !== undefined;
}

/** Where the session ends, and then the door of the portal. */
export function signOutAddress(): string {
  return `${granted?.sign_out ?? '/login?action=logout'}&redirect_to=${encodeURIComponent('/portal/')}`;
}

/** An address with the nonce in it, for what cannot send headers. */
export function signed(path: string): string {
  return address(path, { _wpnonce: granted?.nonce });
}

export function address(path: string, query: Query = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const item of value) pairs.append(`${name}[]`, String(item));
    else if (value !== undefined && value !== '') pairs.set(name, String(value));
  }
  const text = pairs.toString();
  return text ? `${path}?${text}` : path;
}

export interface Wish {
  method?: string;
  query?: Query;
  body?: Json | undefined | Blob | FormData;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/**
 * Sends a request and gives the answer if it is a good one. A nonce that ran out is renewed once. A
 * session that ran out looks like a missing permission, so the server is asked which of them it is.
 */
export async function send(path: string, wish: Wish = {}): Promise<Response> {
  for (const isLast of [false, true]) {
    const wasSignedIn = granted !== undefined || isOver;
    const answer = await once(path, wish);
    if (answer.ok) return answer;
    const refusal = await errorOf(answer);
    const isStale = refusal.code === 'rest_cookie_invalid_nonce' || refusal.status === 401;
    if (isLast || !(isStale || refusal.status === 403)) throw refusal;
    const isSignedIn = await renewNonce();
    if (wasSignedIn && !isSignedIn) {
      isOver = true;
      onOver();
      throw new ApiError(401, SIGNED_OUT, texts.session.over);
    }
    if (!isSignedIn || !isStale) throw refusal;
  }
  throw new ApiError(0, 'unreachable', '');
}

async function once(path: string, wish: Wish): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...wish.headers };
  if (granted) headers['X-WP-Nonce'] = granted.nonce;
  let body: BodyInit | undefined;
  if (wish.body instanceof Blob || wish.body instanceof FormData) body = wish.body;
  else if (wish.body !== undefined) {
    body = JSON.stringify(wish.body);
    headers['Content-Type'] = 'application/json';
  }
  const init: RequestInit = { method: wish.method ?? 'GET', headers };
  if (body !== undefined) init.body = body;
  if (wish.signal) init.signal = wish.signal;
  try {
    return await fetch(address(path, wish.query), init);
  } catch (error) {
    if (wish.signal?.aborted) throw error;
    throw new ApiError(0, 'unreachable', texts.unreachable);
  }
}

/** Both interfaces' error bodies, read into one shape. */
async function errorOf(answer: Response): Promise<ApiError> {
  let body: Record<string, unknown> = {};
  try {
    body = (await answer.json()) as Record<string, unknown>;
  } catch {
    // Not JSON: the status has to do.
  }
  const title = typeof body.message === 'string' ? body.message : texts.status(answer.status);
  const errors: FieldError[] = [];
  if (Array.isArray(body.errors)) {
    for (const one of body.errors as Record<string, unknown>[]) {
      const field = String(one.param ?? '');
      errors.push({ code: String(one.code), message: String(one.message), field });
    }
  }
  const data = body.data as { params?: Record<string, string> } | undefined;
  for (const [field, text] of Object.entries(data?.params ?? {})) {
    errors.push({ code: String(body.code), message: text, field });
  }
  const code = typeof body.code === 'string' ? body.code : (errors[0]?.code ?? 'refused');
  // What is wrong with the whole request says more than the title of the answer.
  const general = errors.filter((one) => !one.field).map((one) => one.message);
  const message = general.join(' ') || title;
  return new ApiError(answer.status, code, message, errors, body);
}

export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  const answer = await send(path, { query: query ?? {}, signal });
  freshness.note(answer.headers);
  return (await answer.json()) as T;
}

/** A page of a list of the REST interface, with the totals that its headers tell. */
export async function getPage<T>(
  path: string,
  query?: Query,
  signal?: AbortSignal,
): Promise<Page<T>> {
  const answer = await send(path, { query: query ?? {}, signal });
  freshness.note(answer.headers);
  const count = (name: string): number => Number(answer.headers.get(name) ?? 0);
  return {
    items: (await answer.json()) as T,
    total: count('X-WP-Total'),
    pages: count('X-WP-TotalPages'),
  };
}

export async function write<T>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: Json,
  headers?: Record<string, string>,
): Promise<T> {
  const answer = await send(path, { method, body, headers: headers ?? {} });
  const text = await answer.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

export const rest = (path: string): string => `/wp-json/${path}`;
