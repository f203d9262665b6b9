// What can go wrong, as classes to tell apart with `instanceof`.
import type { ErrorItem } from './types.js';

/** Of everything that this package throws. */
export class BoardwalkError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** There was no response: the server could not be reached, or took too long. */
export class ConnectionError extends BoardwalkError {}

/** A webhook was not sent by the server, or long ago. */
export class WebhookError extends BoardwalkError {}

/** The server refused the request. */
export class APIError extends BoardwalkError {
  constructor(
    message: string,
    /** Status of the response. */
    readonly status: number,
    /** Everything that is wrong with the request. */
    readonly errors: ErrorItem[],
    /** Names the request in the server's logs. */
    readonly requestId: string | undefined,
    /** Seconds to wait before another attempt, if the server said so. */
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(message);
  }

  /** Code of the first error, such as `unknown_zip`. */
  get code(): string | undefined {
    return this.errors[0]?.code;
  }

  /** Path of the first field that is wrong, such as `storeData.zipCode`. */
  get param(): string | undefined {
    return this.errors[0]?.param || undefined;
  }
}

/** 400, 413, 415, 422, 431: change what you send. */
export class InvalidRequestError extends APIError {}
/** 401: the key is wrong, expired or revoked. */
export class AuthenticationError extends APIError {}
/** 403: the key lacks the scope that the message names. */
export class ScopeError extends APIError {}
/** 404: there is no such object. */
export class NotFoundError extends APIError {}
/** 409: the object's state does not allow it. */
export class ConflictError extends APIError {}
/** 412: the object was changed in the meantime; read it again. */
export class VersionError extends APIError {}
/** 429: too many requests, in spite of retries. */
export class RateLimitError extends APIError {}
/** 5xx: the server's fault. */
export class ServerError extends APIError {}

const CLASSES: Record<number, typeof APIError> = {
  401: AuthenticationError,
  403: ScopeError,
  404: NotFoundError,
  409: ConflictError,
  412: VersionError,
  429: RateLimitError,
};

/** What a response other than 2xx means. */
export function errorOf(response: Response, text: string): APIError {
  const { status, headers } = response;
  const { message, errors } = parsed(text);
  const told = errors.map((one) => (one.param ? `${one.param}: ${one.message}` : one.message));
  const Class = CLASSES[status] ?? (status >= 500 ? ServerError : InvalidRequestError);
  const said = [message, told.join('; ')].filter((part) => part).join(': ');
  return new Class(
    said || `the server responded with status ${status}`,
    status,
    errors,
    headers.get('X-Request-Id') ?? undefined,
    seconds(headers.get('Retry-After')),
  );
}

/** Both styles of failures: with a list of errors, and with the first one alone. */
function parsed(text: string): { message: string; errors: ErrorItem[] } {
  let body: { message?: unknown; errors?: unknown; code?: unknown } | null;
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    // A proxy before the server speaks for itself; the status has to do.
    body = null;
  }
  if (typeof body?.code === 'string') return { message: '', errors: [body as ErrorItem] };
  return {
    message: typeof body?.message === 'string' ? body.message : '',
    errors: Array.isArray(body?.errors) ? (body.errors as ErrorItem[]) : [],
  };
}

/** What `Retry-After` says, as seconds or as a date. */
function seconds(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
