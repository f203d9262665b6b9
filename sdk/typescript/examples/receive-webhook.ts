// Receives webhooks and verifies them: registers itself, asks for a test event, and leaves.
// BOARDWALK_SERVER and BOARDWALK_API_KEY say where, and with which key. The server must be allowed to
// reach this machine: BOARDWALK_SERVER__OUTBOUND__EXEMPT='["127.0.0.1"]' for a sandbox on it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import process from 'node:process';
import { Boardwalk, verifyWebhook, WebhookError } from 'boardwalk-sdk';

const boardwalk = new Boardwalk({
  server: process.env['BOARDWALK_SERVER'] ?? '',
  apiKey: process.env['BOARDWALK_API_KEY'] ?? '',
});
let secret = '';

const receiver = createServer(async (request, response) => {
  try {
    const event = await verifyWebhook(secret, request.headers, await buffer(request));
    console.log(`received ${event.type}`);
    response.writeHead(204).end();
    if (event.type === 'webhook.test') receiver.emit('received');
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.log(`refused: ${error.message}`);
    response.writeHead(400).end();
  }
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const { port } = receiver.address() as AddressInfo;

const webhook = await boardwalk.webhooks.create({ url: `http://127.0.0.1:${port}/webhooks` });
secret = webhook.secret ?? '';
const received = once(receiver, 'received', { signal: AbortSignal.timeout(30_000) });
await boardwalk.webhooks.test(webhook.webhookId);
await received.finally(() => boardwalk.webhooks.delete(webhook.webhookId));
receiver.close();
receiver.closeAllConnections();
