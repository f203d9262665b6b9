// What the browser tests share: a server of their own with demo data, a browser, and an eye on
// everything that a page does wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const READY_MS = 180_000;
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Starts `boardwalk demo` on a fresh folder; gives its address, credentials, and how to end it. */
export async function startServer({ orders }) {
  const folder = await mkdtemp(join(tmpdir(), 'boardwalk-portal-'));
  const binary = process.env.BOARDWALK;
  assert.ok(binary, 'BOARDWALK must name the binary: run `cargo xtask test --only browser`');
  const args = ['demo', '--json', '--data', folder, '--listen', '127.0.0.1:0', '--orders', String(orders)];
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const facts = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the server was not ready in time')), READY_MS);
    const known = {};
    createInterface({ input: child.stdout }).on('line', (line) => {
      Object.assign(known, JSON.parse(line));
      if (known.event === 'ready' && known.login) {
        clearTimeout(timer);
        resolve(known);
      }
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const stop = async () => {
    child.removeAllListeners('exit');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  return { ...facts, stop };
}

export function openBrowser() {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
}

/** A page whose console errors, failed requests and requests to other hosts are collected. */
export async function openPage(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', (message) => message.type() === 'error' && wrong.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => wrong.push(`script: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.origin !== server.url) wrong.push(`another host: ${url.href}`);
  });
  return { page, wrong, context };
}

export async function signIn(page, server, password = server.password) {
  await page.goto(`${server.url}/login?redirect_to=${encodeURIComponent('/portal/')}`);
  await page.fill('input[name=log]', server.login);
  await page.fill('input[name=pwd]', password);
  await Promise.all([page.waitForLoadState('load'), page.press('input[name=pwd]', 'Enter')]);
}

/** Opens a view and waits until nothing is loading. */
export async function open(page, server, path) {
  await page.goto(`${server.url}/portal${path}`);
  await page.waitForSelector('main h1, main .title');
  await settled(page);
}

export async function settled(page) {
  await page.waitForFunction(() => !document.querySelector('main [aria-busy=true]'));
}

/** No serious fault for people who use a keyboard or a screen reader, and nothing wider than the screen. */
export async function isFitForEverybody(page, where) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const result = await globalThis.axe.run(document, { resultTypes: ['violations'] });
    return result.violations
      .filter((one) => one.impact === 'serious' || one.impact === 'critical')
      .map((one) => `${one.id}: ${one.nodes[0]?.html}`);
  });
  assert.deepEqual(found, [], where);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 1, `${where} is ${overflow} pixels wider than the screen`);
}
