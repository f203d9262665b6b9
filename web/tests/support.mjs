// What the browser tests share: a server of their own with demo data, a browser, and an eye on
// everything that a page does wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { startProvider } from './provider.mjs';

/** Making a million orders takes its time. */
const READY_MS = 900_000;
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The binary, in a folder of its own and without settings of the machine. */
async function program() {
  const binary = process.env.BOARDWALK;
  assert.ok(binary, 'BOARDWALK must name the binary: run `cargo xtask test --only browser`');
  const folder = await mkdtemp(join(tmpdir(), 'boardwalk-portal-'));
  // The orders are said in the arguments alone.
  const { BOARDWALK_ORDERS: _, ...environment } = process.env;
  const start = (args, stdio, settings = {}) =>
    spawn(binary, [...args, '--json', '--data', folder], {
      stdio,
      env: { ...environment, BOARDWALK_LOG__LEVEL: 'warn', ...settings },
    });
  return { folder, start };
}

/** Waits until `isReady` has seen enough of what the child prints, a JSON object a line; gives its answer. */
function waitForLine(child, isReady) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the server was not ready in time')), READY_MS);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = isReady(JSON.parse(line));
      if (!found) return;
      clearTimeout(timer);
      resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

const stopping = (child, folder) => async () => {
  child.removeAllListeners('exit');
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  await rm(folder, { recursive: true, force: true });
};

/** Starts `boardwalk demo` on a fresh folder; gives its address, credentials, its mail, and how to end it. */
export async function startServer({ orders }) {
  // For work on the portal: the facts that a running `boardwalk demo --json` printed.
  if (process.env.SERVER) return { ...JSON.parse(process.env.SERVER), stop: async () => undefined };
  const [mail, provider] = [await startMail(), await startProvider()];
  const { folder, start } = await program();
  const settings = {
    ...provider.settings,
    BOARDWALK_MAIL__RELAY: '127.0.0.1',
    BOARDWALK_MAIL__PORT: String(mail.port),
    BOARDWALK_MAIL__SECURITY: 'none',
    BOARDWALK_MAIL__FROM: 'Pier <pier@site.example>',
    BOARDWALK_ONBOARDING__REGISTRATION: 'open',
    // The store that is connected is on this machine.
    BOARDWALK_SERVER__OUTBOUND__EXEMPT: '["127.0.0.0/8"]',
  };
  const child = start(
    [
      'demo',
      '--listen',
      '127.0.0.1:0',
      '--admin-listen',
      '127.0.0.1:0',
      '--orders',
      String(orders),
    ],
    ['ignore', 'pipe', 'inherit'],
    settings,
  );
  const known = {};
  const facts = await waitForLine(
    child,
    (line) => Object.assign(known, line).event === 'ready' && known.login && known,
  );
  const end = stopping(child, folder);
  /** Runs a command beside the server; `content` is the file that it ends with. */
  const run = async (args, content) => {
    const file = join(folder, 'given.json');
    await writeFile(file, content);
    const [code] = await once(start([...args, file], ['ignore', 'ignore', 'inherit']), 'exit');
    assert.equal(code, 0, args.join(' '));
  };
  const stop = () => Promise.all([end(), mail.stop(), provider.stop()]);
  return { ...facts, mail, issuer: provider.issuer, run, stop };
}

/** Starts `boardwalk serve` with both environments, empty but for an administrator in each. */
export async function startBoth() {
  const { folder, start } = await program();
  const [login, password] = ['keeper', 'a lamp above the pier'];
  for (const environment of ['sandbox', 'production']) {
    const child = start(
      [
        'user',
        'create',
        '--environment',
        environment,
        '--login',
        login,
        '--email',
        'keeper@site.example',
        '--role',
        'administrator',
        '--password-stdin',
      ],
      ['pipe', 'ignore', 'inherit'],
    );
    child.stdin.end(`${password}\n`);
    const [code] = await once(child, 'exit');
    assert.equal(code, 0, 'a user is made');
  }
  const child = start(
    [
      'serve',
      '--listen',
      '127.0.0.1:0',
      '--listen-production',
      '127.0.0.1:0',
      '--admin-listen',
      '127.0.0.1:0',
    ],
    ['ignore', 'pipe', 'inherit'],
  );
  const urls = {};
  await waitForLine(child, (line) => {
    if (line.event === 'ready') urls[line.environment] = line.url;
    return urls.sandbox && urls.production;
  });
  return { ...urls, login, password, stop: stopping(child, folder) };
}

/** A mail server that keeps what it is sent. */
async function startMail() {
  const emails = [];
  const server = createServer((socket) => {
    let data;
    const say = (line) => socket.write(`${line}\r\n`);
    say('220 sink');
    createInterface({ input: socket }).on('line', (line) => {
      if (data) {
        if (line !== '.') return data.push(line);
        // An e-mail's lines end where its encoding folds them.
        emails.push(data.join('\n').replaceAll('=\n', '').replaceAll('=3D', '='));
        data = undefined;
        return say('250 kept');
      }
      const word = line.slice(0, 4).toUpperCase();
      if (word === 'DATA') data = [];
      say(word === 'DATA' ? '354 go on' : word === 'QUIT' ? '221 bye' : '250 fine');
      return undefined;
    });
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  /** The newest e-mail that matches the pattern, once it has arrived. */
  const find = async (pattern) => {
    for (let tries = 0; tries < 200; tries++) {
      const found = emails.findLast((email) => pattern.test(email));
      if (found) return found.match(pattern);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`no e-mail matches ${pattern}`);
  };
  return { port: server.address().port, find, stop: async () => server.close() };
}

export function openBrowser() {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({
    headless: true,
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args,
  });
}

/** A page whose console errors, failed requests and requests to other hosts than `hosts` are collected. */
async function openPage(options, hosts = [world.server.url]) {
  const context = await world.browser.newContext({
    viewport: { width: 1360, height: 900 },
    ...options,
  });
  const page = await context.newPage();
  const wrong = [];
  page.on(
    'console',
    (message) =>
      message.type() === 'error' &&
      wrong.push(`console: ${message.text()} at ${message.location().url}`),
  );
  page.on('pageerror', (error) => wrong.push(`script: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && !hosts.includes(url.origin))
      wrong.push(`another host: ${url.href}`);
  });
  return { page, wrong, context };
}

/** What all walks share; filled in before the first. */
export const world = { server: undefined, browser: undefined, orders: 0 };

/**
 * Runs a walk on a page of its own, and wants nothing to have gone wrong at its end. On a busy
 * machine a page may come too late once: a walk that fails is told, and walked once more.
 */
export async function walk(work, how) {
  try {
    await walkOnce(work, how);
  } catch (error) {
    console.warn(`walked again after: ${error.stack}`);
    await walkOnce(work, how);
  }
}

async function walkOnce(work, { options = {}, isSignedIn = true, allowed = [], hosts } = {}) {
  const { page, wrong, context } = await openPage(options, hosts);
  try {
    if (isSignedIn) await signIn(page);
    await work(page, context);
    const unexpected = wrong.filter((one) => !allowed.some((pattern) => pattern.test(one)));
    assert.deepEqual(unexpected, []);
  } finally {
    await context.close();
  }
}

export async function signIn(page, { login, password, url = world.server.url } = world.server) {
  await page.goto(`${url}/login?redirect_to=${encodeURIComponent('/portal/')}`);
  await page.fill('input[name=log]', login);
  await page.fill('input[name=pwd]', password);
  await Promise.all([page.waitForLoadState('load'), page.press('input[name=pwd]', 'Enter')]);
}

/** Opens a view and waits until nothing is loading. */
export async function open(page, path, url = world.server.url) {
  await page.goto(`${url}/portal${path}`);
  await page.waitForSelector('main h1, main .title');
  await settled(page);
}

/**
 * Saves a form. The server's answer is waited for, since a note "Saved" may be there from before.
 */
export async function save(page) {
  const stored = page.waitForResponse(
    (answer) => answer.request().method() !== 'GET' && answer.ok(),
  );
  await page.getByRole('button', { name: 'Save' }).click();
  await stored;
  await page.getByText('Saved', { exact: true }).waitFor();
}

export async function settled(page) {
  await page.waitForFunction(() => !document.querySelector('main [aria-busy=true]'));
}

/** Of the orders made, so many count in reports at least; the others were cancelled or failed. */
const COUNTED_MIN = 0.5;

/** Waits until the reports know the orders that were made before the server started. */
export async function reportsAreFull(orders) {
  const path = 'wc-analytics/reports/orders/stats?after=2000-01-01T00:00:00&interval=year';
  const counted = async () => {
    try {
      return (await call('GET', path)).totals.orders_count;
    } catch (error) {
      // A busy machine takes its time to load them.
      if (String(error).includes('rest_reports_not_ready')) return 0;
      throw error;
    }
  };
  const until = Date.now() + READY_MS;
  let [before, now] = [-1, await counted()];
  while (Date.now() < until && (now < orders * COUNTED_MIN || now !== before)) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    [before, now] = [now, await counted()];
  }
  assert.ok(now >= orders * COUNTED_MIN, `reports know only ${now} of ${orders} orders`);
}

/** Asks again until the answer is the wanted one: a server notices within a second what was revoked. */
export async function becomes(ask, wanted, triesMax = 30) {
  for (let tries = 0; tries < triesMax && (await ask()) !== wanted; tries++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(await ask(), wanted);
}

/** A request as another program sends it, with the application password of the demo. */
export async function call(method, path, body) {
  const { login, application_password, url } = world.server;
  const authorization = `Basic ${Buffer.from(`${login}:${application_password}`).toString('base64')}`;
  const headers = { authorization, ...(body ? { 'content-type': 'application/json' } : {}) };
  const answer = await fetch(`${url}/wp-json/${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  assert.ok(
    answer.ok,
    `${method} ${path} was answered with ${answer.status}: ${await answer.clone().text()}`,
  );
  return answer.json();
}

/** A request of the onboarding interface, with the key of the demo. */
export async function onboarding(method, path, body) {
  const headers = { authorization: `Api-Key ${world.server.api_key}` };
  const answer = await fetch(`${world.server.url}/v1/${path}`, {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  assert.ok(
    answer.ok,
    `${method} ${path} was answered with ${answer.status}: ${await answer.clone().text()}`,
  );
  return answer.json();
}

/**
 * Waits until nothing is dimmed while it loads, nor on its way. A page that goes on loading is looked
 * at all the same.
 */
async function isAtRest(page) {
  const isIdle = () => !document.querySelector('main [aria-busy=true]');
  await page.waitForFunction(isIdle, null, { timeout: 5_000 }).catch(() => undefined);
  await page.evaluate(async () => {
    const ends = (one) => Number.isFinite(one.effect?.getComputedTiming().endTime);
    const moving = document.getAnimations().filter(ends);
    await Promise.all(moving.map((one) => one.finished.catch(() => undefined)));
  });
}

/**
 * What is wrong for people who use a keyboard or a screen reader, and whether something is wider than the
 * screen: of some rules, or of some weight, or all of it.
 */
export async function problemsOf(page, { rules, impacts } = {}) {
  await isAtRest(page);
  await page.evaluate(axe);
  const found = await page.evaluate(
    async ([named, weights]) => {
      const runOnly = named ? { runOnly: { type: 'rule', values: named } } : {};
      const options = { resultTypes: ['violations'], ...runOnly };
      const { violations } = await globalThis.axe.run(document, options);
      return violations
        .filter(({ impact }) => !weights || weights.includes(impact))
        .map((one) => `${one.id}: ${one.nodes[0]?.html}`);
    },
    [rules, impacts],
  );
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  return overflow > 1 ? [...found, `${overflow} pixels wider than the screen`] : found;
}

/** What stands in somebody's way; pages in their usual state have no other problems either. */
export const hindrancesOf = (page) => problemsOf(page, { impacts: ['serious', 'critical'] });

export async function isFitForEverybody(page, where) {
  assert.deepEqual(await hindrancesOf(page), [], where);
}
