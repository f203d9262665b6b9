// Tells whether a webhook was sent by the server: the signatures of Standard Webhooks.
import { WebhookError } from './errors.js';
import type { Event } from './types.js';

const TOLERANCE_SECONDS = 300;
const PREFIX = 'whsec_';

/** Header fields, as `fetch`, Node and frameworks hand them over. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

export interface VerifyOptions {
  /** How far the time of the webhook may be from now; 300 seconds by default. */
  toleranceSeconds?: number;
}

/**
 * The event of a webhook, if its signature is right; else throws a {@link WebhookError}.
 *
 * `body` must be what was received, byte by byte, not JSON that was parsed and written again. An
 * event may arrive twice: remember the ids that you have processed.
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceSeconds = TOLERANCE_SECONDS }: VerifyOptions = {},
): Promise<Event> {
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature');
  const sent = Number(timestamp);
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - sent) > toleranceSeconds) {
    throw new WebhookError('the webhook was sent too long ago, or has no valid time');
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const key = await importKey(secret);
  // Two while the secrets of a rotation overlap.
  for (const signature of signatures.split(' ')) {
    const [version, value] = signature.split(',', 2);
    if (version !== 'v1' || value === undefined) continue;
    const bytes = decoded(value);
    // Takes the same time wherever the two differ.
    if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, content))) {
      return JSON.parse(text) as Event;
    }
  }
  throw new WebhookError('no signature of the webhook is right; check the secret');
}

function importKey(secret: string): Promise<CryptoKey> {
  const bytes = decoded(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (!bytes || bytes.length === 0) throw new WebhookError('the secret must be whsec_ and base64');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function header(headers: WebhookHeaders, name: string): string {
  const found =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const value = Array.isArray(found) ? found[0] : found;
  if (!value) throw new WebhookError(`the webhook has no header ${name}`);
  return value;
}
