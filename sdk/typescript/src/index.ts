// What the package offers. Start with `Boardwalk`.
import { type ClientOptions, Core } from './core.js';
import { Operations } from './operations.js';

/** A server, and who asks it. */
export class Boardwalk extends Operations {
  constructor(options: ClientOptions) {
    super(new Core(options));
  }
}

export {
  Feed,
  Paged,
  type ClientOptions,
  type FileBody,
  type FileOptions,
  type RequestOptions,
  type UnkeyedOptions,
  type WriteOptions,
} from './core.js';
export * from './errors.js';
export type * from './types.js';
export type * from './operations.js';
export { VERSION } from './types.js';
export { type VerifyOptions, type WebhookHeaders, verifyWebhook } from './webhooks.js';
