// How requests are sent: credentials, retries that never do a thing twice, time limits, errors, and
// lists that go on from page to page. What there is to send is in operations.ts.
import { APIError, BoardwalkError, ConnectionError, errorOf } from './errors.js';
import { type OnboardMerchant, VERSION } from './types.js';

const TIMEOUT_MS = 30_000;
const RETRIES_MAX = 4;
const FIRST_WAIT_MS = 500;
const WAIT_MS_MAX = 8_000;
/** Whoever is asked to wait longer than this is told so instead. */
const RETRY_AFTER_SECONDS_MAX = 60;
const POLL_MS = 2_000;
const LINES = 'application/x-ndjson';

export interface ClientOptions {
  /** Address of the server, such as `https://sandbox.example`. */
  server: string;
  /** API key of an ISO: `bw_test_…` or `bw_live_…`. */
  apiKey?: string;
  /** Token of a paired device, instead of a key. */
  deviceToken?: string;
  /** Code with which a device is paired, instead of a key. */
  pairingCode?: string;
  /** Milliseconds that one attempt may take; 30,000 by default. */
  timeoutMs?: number;
  /** How often a request is repeated after a failure that may pass; 4 times by default. */
  retriesMax?: number;
  /** Sends the requests; the global `fetch` by default. */
  fetch?: typeof fetch;
}

export interface RequestOptions {
  /** Ends the request, and the waiting between attempts. */
  signal?: AbortSignal;
  /** Milliseconds that one attempt may take. */
  timeoutMs?: number;
  /** How often the request is repeated after a failure that may pass. */
  retriesMax?: number;
}

/** Of a request that changes something and that the server does not recognise when it is repeated. */
export interface UnkeyedOptions extends RequestOptions {
  /** Check everything, and save nothing. */
  validateOnly?: boolean;
  /** A failure to simulate; the sandbox alone heeds it. */
  sandboxScenario?: string;
}

/** Of a request that changes something. */
export interface WriteOptions extends UnkeyedOptions {
  /** Names the request, so that it is done once however often it is sent; made up if left out. Set one
   * to be safe even when your program is started again. */
  idempotencyKey?: string;
  /** `ETag` of the version to change. */
  ifMatch?: string;
}

export interface FileOptions extends WriteOptions {
  /** What the file is; `application/x-ndjson` by default. */
  contentType?: 'application/x-ndjson' | 'text/csv';
}

/** A file of onboardings: its content, or a list of what each of its lines is to hold. */
export type FileBody = string | Uint8Array<ArrayBuffer> | readonly OnboardMerchant[];

/** A request, as operations describe it. */
export interface Call {
  method: string;
  /** With variables in braces. */
  path: string;
  /** Whether the server knows a repetition by its key. */
  isKeyed?: boolean;
  variables?: Record<string, string | number>;
  query?: Record<string, unknown>;
  body?: object;
  file?: FileBody;
}

type AnyOptions = RequestOptions & Partial<FileOptions>;

export class Core {
  readonly #server: string;
  readonly #authorization: string | undefined;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#server = checkedServer(options.server);
    this.#authorization = authorization(options);
    this.#options = options;
  }

  /** Sends a request until it is answered, or until another attempt makes no sense. */
  async send<Reply>(call: Call, options: AnyOptions): Promise<Reply> {
    const url = this.#url(call);
    const { headers, body } = this.#content(call, options);
    const retriesMax = options.retriesMax ?? this.#options.retriesMax ?? RETRIES_MAX;
    const isRepeatable = call.isKeyed === true || !['POST', 'PATCH'].includes(call.method);
    for (let attempt = 0; ; attempt += 1) {
      const failure = await this.#attempt<Reply>(
        url,
        { method: call.method, headers, body },
        options,
      );
      if ('reply' in failure) return failure.reply;
      const wait = waitAfter(failure.error, attempt, isRepeatable);
      if (wait === undefined || attempt >= retriesMax) throw failure.error;
      await sleep(wait, options.signal);
    }
  }

  async #attempt<Reply>(
    url: URL,
    init: RequestInit,
    options: RequestOptions,
  ): Promise<{ reply: Reply } | { error: BoardwalkError }> {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    const send = this.#options.fetch ?? fetch;
    try {
      // A key is meant for the server that was named, and not for one that it points to.
      const response = await send(url, { ...init, signal, redirect: 'manual' });
      const text = await response.text();
      if (!response.ok) return { error: errorOf(response, text) };
      return { reply: JSON.parse(text) as Reply };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof SyntaxError) {
        throw new BoardwalkError(`${url.origin} does not respond like Boardwalk; check the URL`);
      }
      const reason = timeout.aborted ? 'it took too long' : 'the connection failed';
      return {
        error: new ConnectionError(`cannot reach ${url.origin}: ${reason}`, { cause: error }),
      };
    }
  }

  #url(call: Call): URL {
    const path = call.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(call.variables?.[name] ?? '');
      if (value === '') throw new BoardwalkError(`${name} must not be empty`);
      return encodeURIComponent(value);
    });
    const url = new URL(this.#server + path);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value === undefined || value === null) continue;
      url.searchParams.set(name, Array.isArray(value) ? value.join(',') : String(value));
    }
    return url;
  }

  #content(call: Call, options: AnyOptions) {
    const headers: Record<string, string> = {
      Accept: 'application/json',
      'User-Agent': `boardwalk-sdk-typescript/${VERSION}`,
    };
    if (this.#authorization) headers['Authorization'] = this.#authorization;
    if (call.isKeyed) headers['Idempotency-Key'] = options.idempotencyKey ?? crypto.randomUUID();
    if (options.ifMatch) headers['If-Match'] = options.ifMatch;
    if (options.validateOnly) headers['X-Validate-Only'] = 'true';
    if (options.sandboxScenario) headers['X-Sandbox-Scenario'] = options.sandboxScenario;
    if (call.file !== undefined) {
      headers['Content-Type'] = options.contentType ?? LINES;
      return { headers, body: fileContent(call.file) };
    }
    if (call.body === undefined) return { headers, body: null };
    headers['Content-Type'] = 'application/json';
    return { headers, body: JSON.stringify(call.body) };
  }
}

/** Operations that belong together. */
export class Group {
  constructor(protected readonly core: Core) {}
}

/** A list that is read page by page: `for await (const object of list)`. Nothing is sent before. */
export class Paged<Item, Page extends { data: Item[] }> implements AsyncIterable<Item> {
  constructor(
    protected readonly core: Core,
    protected readonly call: Call,
    protected readonly options: RequestOptions,
  ) {}

  /** The first page alone. */
  page(): Promise<Page> {
    return this.core.send<Page>(this.call, this.options);
  }

  /** Every page. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let call = this.call;
    for (;;) {
      const page = await this.core.send<Page>(call, this.options);
      yield page;
      const next = this.next(page);
      if (next === undefined) return;
      call = { ...call, query: { ...call.query, ...next } };
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** Every object, at most so many. */
  async all(max = Infinity): Promise<Item[]> {
    const found: Item[] = [];
    if (max <= 0) return found;
    for await (const item of this) {
      found.push(item);
      if (found.length >= max) break;
    }
    return found;
  }

  /** What to ask for to get the page after this one. */
  protected next(page: Page): Record<string, unknown> | undefined {
    const { nextCursor = null } = page as { nextCursor?: string | number | null };
    return nextCursor === null ? undefined : { cursor: nextCursor };
  }
}

/** A list that grows at its end. */
export class Feed<
  Item,
  Page extends { data: Item[]; next: number; hasMore: boolean },
> extends Paged<Item, Page> {
  /** Every object, and then those that come; without an end, unless the signal aborts it. */
  async *follow({ pollMs = POLL_MS } = {}): AsyncGenerator<Item, void, undefined> {
    let call = this.call;
    for (;;) {
      const page = await this.core.send<Page>(call, this.options);
      yield* page.data;
      call = { ...call, query: { ...call.query, after: page.next } };
      if (!page.hasMore) await sleep(pollMs, this.options.signal);
    }
  }

  protected override next(page: Page): Record<string, unknown> | undefined {
    return page.hasMore ? { after: page.next } : undefined;
  }
}

/** How long to wait before the next attempt, if there is to be one. */
function waitAfter(
  error: BoardwalkError,
  attempt: number,
  isRepeatable: boolean,
): number | undefined {
  const usual = Math.min(FIRST_WAIT_MS * 2 ** attempt, WAIT_MS_MAX) * (0.5 + Math.random() / 2);
  if (error instanceof ConnectionError) return isRepeatable ? usual : undefined;
  if (!(error instanceof APIError)) return undefined;
  // The server refuses 429 before it looks at a request, so that one is always safe.
  const mayPass =
    [408, 502, 503, 504].includes(error.status) || error.code === 'request_in_progress';
  if (error.status !== 429 && !(mayPass && isRepeatable)) return undefined;
  if (error.retryAfterSeconds === undefined) return usual;
  if (error.retryAfterSeconds > RETRY_AFTER_SECONDS_MAX) return undefined;
  return Math.max(error.retryAfterSeconds * 1000, usual);
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function fileContent(file: FileBody): string | Uint8Array<ArrayBuffer> {
  if (typeof file === 'string' || file instanceof Uint8Array) return file;
  return file.map((row) => `${JSON.stringify(row)}\n`).join('');
}

function authorization(options: ClientOptions): string | undefined {
  if (options.apiKey) return `api-key ${options.apiKey}`;
  if (options.deviceToken) return `device-token ${options.deviceToken}`;
  return options.pairingCode ? `pairing-code ${options.pairingCode}` : undefined;
}

/** The address without a slash at its end. A key never crosses a network in plain text. */
function checkedServer(server: string): string {
  const url = new URL(server);
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere)) {
    throw new BoardwalkError(`${server} must start with https://, to keep credentials secret`);
  }
  return url.href.replace(/\/+$/, '');
}
