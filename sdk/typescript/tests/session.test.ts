// The package against a running server; BOARDWALK_SERVER, BOARDWALK_API_KEY and, of a key that may only
// read merchants, BOARDWALK_READER_KEY.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import process from 'node:process';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import * as sdk from 'boardwalk-sdk';

const PATIENCE_MS = 30_000;
const server = process.env['BOARDWALK_SERVER'] ?? '';
const apiKey = process.env['BOARDWALK_API_KEY'] ?? '';
const readerKey = process.env['BOARDWALK_READER_KEY'] ?? '';
const boardwalk = new sdk.Boardwalk({ server, apiKey });

function merchantOf(name: string, email = 'maria@harbor.example'): sdk.OnboardMerchant3 {
  const data = {
    dba: name,
    firstName: 'Maria',
    email,
    addressLine1: '12 Pier Road',
    zipCode: '10001',
    phoneNumber: '2125550142',
    ISDcode: '+1',
  };
  return {
    merchantData: data,
    storeData: { ...data, email: 'maria@harbor.example', mccCode: '5812' },
    tpnData: {
      deviceManufacturer: 'Kozen',
      deviceModel: 'P3',
      tpnApplicationSign: 'CRDT',
      tpnRoutingType: 'SIMPLE',
      tpnProcessor: {
        processorName: 'CKNX',
        profile: [{ profileId: '01', apiKey: 'demo-processor-key' }],
      },
    },
  };
}

/** A client whose requests go through a function, with the number of the request. */
function through(
  pass: (number: number, send: () => Promise<Response>, init: RequestInit) => unknown,
) {
  let count = 0;
  const between = (async (url: URL, init: RequestInit) =>
    pass(count++, () => fetch(url, init), init)) as typeof fetch;
  return new sdk.Boardwalk({ server, apiKey, fetch: between });
}

test('onboards, reads and changes', async () => {
  const { data } = await boardwalk.onboardMerchant(merchantOf('Harbor Script'));
  const merchant = await boardwalk.merchants.get(data.merchantId ?? '');
  assert.equal(merchant.dba, 'Harbor Script');
  assert.equal(merchant.contact.email, 'maria@harbor.example');
  const expectedVersion = merchant.version;
  const change = (firstName: string) =>
    boardwalk.merchants.patch(merchant.merchantId, { firstName, expectedVersion });
  assert.equal((await change('Mario')).contact.firstName, 'Mario');
  await assert.rejects(change('Marie'), sdk.VersionError);
  assert.equal((await boardwalk.tpns.get(data.tpn ?? '')).deviceModel, 'P3');
});

test('errors say what is wrong', async () => {
  const wrong = merchantOf('Harbor Fault');
  wrong.storeData.zipCode = '00000';
  await assert.rejects(boardwalk.onboardMerchant(wrong), (error) => {
    assert.ok(error instanceof sdk.InvalidRequestError && error.name === 'InvalidRequestError');
    assert.deepEqual([error.status, error.code], [400, 'unknown_zip']);
    assert.equal(error.param, 'storeData.zipCode');
    assert.ok(error.requestId);
    return true;
  });
  await assert.rejects(boardwalk.merchants.get('000000000000'), sdk.NotFoundError);
  const stranger = new sdk.Boardwalk({ server, apiKey: 'bw_test_wrong' });
  await assert.rejects(stranger.merchants.list().page(), sdk.AuthenticationError);
  const reader = new sdk.Boardwalk({ server, apiKey: readerKey });
  await assert.rejects(reader.keys.list(), (error) => {
    assert.ok(error instanceof sdk.ScopeError);
    return error.code === 'insufficient_scope';
  });
  for (const url of ['http://api.example', 'ftp://localhost']) {
    assert.throws(() => new sdk.Boardwalk({ server: url, apiKey }), sdk.BoardwalkError);
  }
});

test('validates without saving', async () => {
  const checked = await boardwalk.onboardMerchant(merchantOf('Harbor Trial'), {
    validateOnly: true,
  });
  assert.deepEqual(checked.data, {});
  assert.deepEqual(await boardwalk.merchants.list({ dba: 'Harbor Trial' }).all(), []);
});

test('tries again when the server is busy', async () => {
  const { data } = await boardwalk.onboardMerchant(merchantOf('Harbor Full', 'error503@a.example'));
  assert.ok(data.merchantId);
});

test('a lost response does nothing twice', async () => {
  const keys: (string | undefined)[] = [];
  const client = through(async (number, send, init) => {
    keys.push((init.headers as Record<string, string>)['Idempotency-Key']);
    const response = await send();
    if (number === 0) throw new TypeError('the connection was lost');
    return response;
  });
  const { data } = await client.onboardMerchant(merchantOf('Harbor Gone'));
  const found = await boardwalk.merchants.list({ dba: 'Harbor Gone' }).all();
  assert.deepEqual(
    found.map((merchant) => merchant.merchantId),
    [data.merchantId],
  );
  assert.equal(keys.length, 2);
  assert.equal(new Set(keys).size, 1);
});

test('waits as long as it is told', async () => {
  const told = (seconds: number) =>
    new Response('{"message":"Failure","errors":[]}', {
      status: 429,
      headers: { 'Retry-After': String(seconds) },
    });
  const start = performance.now();
  await through((number, send) => (number === 0 ? told(1) : send())).keys.list();
  assert.ok(performance.now() - start >= 1000);
  const refused = through(() => told(3600)).keys.list();
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof sdk.RateLimitError);
    return error.retryAfterSeconds === 3600;
  });
});

test('gives up in the end, or when it is told to', async () => {
  let count = 0;
  const failing = through(() => {
    count += 1;
    throw new TypeError('no network');
  });
  await assert.rejects(failing.keys.list({ retriesMax: 1 }), sdk.ConnectionError);
  assert.equal(count, 2);
  const signal = AbortSignal.timeout(50);
  await assert.rejects(failing.keys.list({ signal }), { name: 'TimeoutError' });
  const slow = through((_, send) => pause(500).then(send));
  const late = { timeoutMs: 20, retriesMax: 0 };
  await assert.rejects(slow.keys.list(late), sdk.ConnectionError);
});

test('lists go on from page to page', async () => {
  const names = ['Harbor Leaf 0', 'Harbor Leaf 1', 'Harbor Leaf 2'];
  for (const name of names) await boardwalk.onboardMerchant(merchantOf(name));
  const list = boardwalk.merchants.list({ dba: 'Harbor Leaf', limit: 1 });
  assert.deepEqual((await list.all()).map((merchant) => merchant.dba).sort(), names);
  assert.equal((await list.page()).data.length, 1);
  assert.equal((await list.all(2)).length, 2);
});

test('follows events', async () => {
  const { data } = await boardwalk.onboardMerchant(merchantOf('Harbor Happening'));
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const events = boardwalk.events.list({ types: 'merchant.created', limit: 2 }, { signal });
  for await (const event of events.follow({ pollMs: 200 })) {
    if ((event.data as { id: string }).id === data.merchantId) break;
  }
});

test('uploads files', async () => {
  const wrong = merchantOf('Harbor Line B');
  wrong.merchantData.zipCode = '00000';
  const made = await boardwalk.bulk.create([merchantOf('Harbor Line A'), wrong]);
  assert.deepEqual([made.succeeded, made.failed], [1, 1]);
  const rows = await boardwalk.bulk.results(made.bulkId ?? '', { status: 'failed' }).all();
  assert.deepEqual(
    rows.map((row) => row.errors[0]?.code),
    ['unknown_zip'],
  );
});

test('verifies webhooks', async () => {
  await boardwalk.sandbox.caughtClear();
  const { url } = await boardwalk.sandbox.caughtList().page();
  const webhook = await boardwalk.webhooks.create({ url, events: ['endpoint.disabled'] });
  const secret = webhook.secret ?? '';
  await boardwalk.webhooks.test(webhook.webhookId);
  let caught: sdk.Caught | undefined;
  for (const end = Date.now() + PATIENCE_MS; !caught && Date.now() < end; await pause(200)) {
    caught = (await boardwalk.sandbox.caughtList({ limit: 1 }).page()).data[0];
  }
  assert.ok(caught, 'no webhook arrived');
  const headers = caught.headers as Record<string, string>;
  assert.equal((await sdk.verifyWebhook(secret, headers, caught.body)).type, 'webhook.test');
  const other = `whsec_${btoa('other')}`;
  for (const [key, fields, body] of [
    [secret, headers, `${caught.body} `],
    [secret, { ...headers, 'webhook-id': 'evt_other' }, caught.body],
    [secret, { ...headers, 'webhook-timestamp': '1' }, caught.body],
    [secret, {}, caught.body],
    [other, headers, caught.body],
  ] as const) {
    await assert.rejects(sdk.verifyWebhook(key, fields, body), sdk.WebhookError);
  }
  await boardwalk.webhooks.delete(webhook.webhookId);
});

test('takes either signature while secrets overlap', async () => {
  const body = '{"type":"webhook.test"}';
  const sent = String(Math.floor(Date.now() / 1000));
  const sign = (key: string) =>
    `v1,${createHmac('sha256', key).update(`evt_1.${sent}.${body}`).digest('base64')}`;
  const headers = new Headers({
    'webhook-id': 'evt_1',
    'webhook-timestamp': sent,
    'webhook-signature': `${sign('old')} ${sign('new')}`,
  });
  for (const key of ['old', 'new']) {
    const event = await sdk.verifyWebhook(`whsec_${btoa(key)}`, headers, body);
    assert.equal(event.type, 'webhook.test');
  }
});

test('manages templates and keys', async () => {
  const made = await boardwalk.templates.create({
    name: 'SCRIPT01',
    parameters: { tipEnabled: true },
  });
  assert.equal(made.version, 1);
  await boardwalk.templates.retire('SCRIPT01');
  assert.equal((await boardwalk.templates.get('SCRIPT01')).status, 'retired');
  const key = await boardwalk.keys.create({ name: 'Script', scopes: ['merchants.read'] });
  const reader = new sdk.Boardwalk({ server, apiKey: key.text ?? '' });
  await reader.merchants.list({ limit: 1 }).page();
  await boardwalk.keys.revoke(key.keyId);
  await assert.rejects(reader.merchants.list({ limit: 1 }).page(), sdk.AuthenticationError);
});

test('reads everything else', async () => {
  assert.ok((await boardwalk.scopes.list()).data.length > 0);
  assert.ok((await boardwalk.errors.list()).data.length > 0);
  assert.ok((await boardwalk.parameters.list()).data.length > 0);
  assert.ok((await boardwalk.audit.list({ limit: 1 }).page()).data.length > 0);
  assert.ok(await boardwalk.sandbox.clockGet());
  assert.equal((await boardwalk.openapiGet())['openapi'], '3.1.0');
});
