// A walk through the portal as people use it, in a real browser, against a real server.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isFitForEverybody, open, openBrowser, openPage, settled, signIn, startServer } from './support.mjs';

const REPORTS = ['revenue', 'orders', 'products', 'variations', 'categories', 'coupons', 'taxes', 'stock', 'downloads', 'customers'];
const VIEWS = [
  '/analytics', ...REPORTS.map((report) => `/analytics/${report}`), '/store/orders', '/store/products', '/store/coupons', '/store/coupons/new',
  '/store/inbox', '/store/settings', '/merchants', '/merchants/new', '/merchants/bulk', '/console/keys', '/console/templates',
  '/console/templates/new', '/console/webhooks', '/console/events', '/console/audit', '/reference',
];
const PICTURES = process.env.PICTURES;

let server, browser;
before(async () => {
  server = await startServer({ orders: 3000 });
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Runs a walk on a page of its own, and wants nothing to have gone wrong at its end. */
async function walk(work, { options = {}, isSignedIn = true, allowed = [] } = {}) {
  const { page, wrong, context } = await openPage(browser, server, options);
  if (isSignedIn) await signIn(page, server);
  await work(page);
  const unexpected = wrong.filter((one) => !allowed.some((pattern) => pattern.test(one)));
  assert.deepEqual(unexpected, []);
  await context.close();
}

describe('signing in', () => {
  test('a stranger is asked to sign in', () =>
    walk(async (page) => {
      await open(page, server, '/analytics');
      assert.match(await page.textContent('main'), /Sign in/);
      await isFitForEverybody(page, 'the door');
    }, { isSignedIn: false, allowed: [/403/] }));

  test('a wrong password is refused with a sentence', () =>
    walk(async (page) => {
      await signIn(page, server, 'not the password');
      assert.match(page.url(), /login/);
      assert.match(await page.textContent('body'), /password/i);
    }, { isSignedIn: false, allowed: [/40[13]/] }));

  test('the address asked for is there after signing in, and signing out ends it', () =>
    walk(async (page) => {
      await open(page, server, '/store/orders');
      assert.match(await page.title(), /Orders/);
    }));
});

describe('every view', () => {
  for (const [name, options] of [
    ['on a desk', {}],
    ['in the dark', { colorScheme: 'dark' }],
    ['on a phone', { viewport: { width: 390, height: 844 } }],
  ]) {
    test(`${name} loads, is fit for everybody, and fits the screen`, () =>
      walk(async (page) => {
        for (const view of VIEWS) {
          await open(page, server, view);
          assert.equal(await page.getByText('This could not be loaded').count(), 0, view);
          await isFitForEverybody(page, `${view} ${name}`);
          if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name.split(' ').pop()}${view.replaceAll('/', '-')}.png` });
        }
      }, { options }));
  }
});

describe('analytics', () => {
  test('a range, a filter and a measure live in the address', () =>
    walk(async (page) => {
      await open(page, server, '/analytics/orders?period=year');
      const before = await page.textContent('nav[aria-label=Pages]');
      await page.selectOption('select.add', 'status_is');
      await page.getByLabel('completed', { exact: true }).check();
      await page.getByRole('button', { name: 'Apply' }).click();
      await settled(page);
      assert.match(page.url(), /f\.status_is=completed/);
      assert.notEqual(await page.textContent('nav[aria-label=Pages]'), before);
      await page.getByRole('button', { name: /Average order value/ }).click();
      assert.match(page.url(), /chart=avg_order_value/);
      await page.goBack();
      assert.doesNotMatch(page.url(), /chart=/);
    }));

  test('a table is sorted by its heads', () =>
    walk(async (page) => {
      await open(page, server, '/analytics/products?period=year');
      await page.getByRole('button', { name: 'Net sales', exact: true }).last().click();
      await settled(page);
      assert.equal(await page.getAttribute('th[aria-sort]', 'aria-sort'), 'descending');
    }));

  test('a report is exported as a file', () =>
    walk(async (page) => {
      await open(page, server, '/analytics/revenue?period=year');
      const waiting = page.waitForEvent('download');
      await page.getByRole('button', { name: /Export/ }).click();
      assert.match((await waiting).suggestedFilename(), /revenue.*\.csv/);
    }));

  test('a new order shows without loading the page again', () =>
    walk(async (page) => {
      await open(page, server, '/analytics/orders?period=today');
      const orders = async () => Number((await page.locator('.tile .value').first().textContent()).replace(/\D/g, ''));
      const before = await orders();
      const authorization = `Basic ${Buffer.from(`${server.login}:${server.application_password}`).toString('base64')}`;
      const made = await fetch(`${server.url}/wp-json/wc/v3/orders`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ status: 'completed', set_paid: true, fee_lines: [{ name: 'Walk-in', total: '12.00' }] }),
      });
      assert.equal(made.status, 201);
      await page.waitForFunction((old) => Number(document.querySelector('.tile .value')?.textContent?.replace(/\D/g, '')) > old, before);
    }));
});

describe('the store', () => {
  test('a coupon is made, refused when its code is taken, and deleted after a question', () =>
    walk(async (page) => {
      for (const isSecond of [false, true]) {
        await open(page, server, '/store/coupons/new');
        await page.fill('#code', 'portal-test');
        await page.fill('#amount', '10');
        await page.getByRole('button', { name: 'Save' }).click();
        if (isSecond) await page.waitForSelector('.toasts .bad');
        else await page.waitForURL(/coupons\/\d+/);
      }
      await open(page, server, '/store/coupons?search=portal-test');
      await page.getByRole('link', { name: 'portal-test' }).click();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.waitForURL(/store\/coupons$/);
    }, { allowed: [/400/] }));

  test('an order is refunded in part', () =>
    walk(async (page) => {
      await open(page, server, '/store/orders?status=completed');
      await page.locator('tbody a').first().click();
      await page.getByRole('button', { name: 'Refund…' }).click();
      await page.getByLabel('Amount instead').fill('1');
      await page.getByRole('button', { name: /^Refund / }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByText('Refunded').first().waitFor();
    }));
});

describe('onboarding', () => {
  test('a merchant is onboarded step by step, with rules as one types', () =>
    walk(async (page) => {
      await open(page, server, '/merchants/new');
      const fill = (path, value) => page.fill(`[id="${path}"]`, value);
      await fill('merchantData.dba', 'x');
      await page.getByText('At least 2 characters').waitFor();
      await fill('merchantData.dba', 'Portal Test Diner');
      await fill('merchantData.firstName', 'Ada');
      await fill('merchantData.email', 'ada@example.org');
      await fill('merchantData.addressLine1', '1 Main Street');
      await fill('merchantData.zipCode', '94103');
      await page.getByText('San Francisco, CA').waitFor();
      await fill('merchantData.phoneNumber', '4155550100');
      await isFitForEverybody(page, 'the guided form');
      assert.match(await page.textContent('aside pre'), /Portal Test Diner/);
    }));
});
