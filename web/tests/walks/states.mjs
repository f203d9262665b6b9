// What people see while something is on its way, when it fails, and when it is not for them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  call,
  hindrancesOf,
  isFitForEverybody,
  open,
  settled,
  signIn,
  walk,
  world,
} from '../support.mjs';
import { everyView } from '../views.mjs';

/** What the portal asks before it shows any page. */
const FOUNDATION = /boardwalk\/v1\/(me|currency|theme|live)\b|session\/nonce/;
/** Views that ask for nothing before somebody does something. */
const SILENT = ['/apply', '/merchants/bulk', '/users/privacy'];

describe('states', () => {
  test('every view says that the server fails, and can be tried again', () =>
    walk(
      async (page) => {
        const views = await everyView(page);
        await page.route(/\/(wp-json|v1)\//, (route) =>
          FOUNDATION.test(route.request().url())
            ? route.continue()
            : route.fulfill({
                status: 500,
                contentType: 'application/json',
                body: '{"code":"down","message":"The disk is full."}',
              }),
        );
        const wrong = [];
        for (const view of views.filter((one) => !SILENT.includes(one))) {
          await open(page, view);
          if ((await page.getByText('Could not load this').count()) === 0)
            wrong.push(`${view} says nothing`);
          for (const problem of await hindrancesOf(page)) wrong.push(`${view}: ${problem}`);
        }
        assert.deepEqual(wrong, []);
        await open(page, '/store/orders');
        await page.unroute(/\/(wp-json|v1)\//);
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.locator('main tbody a').first().waitFor();
      },
      { allowed: [/500/] },
    ));

  test('while a list is on its way, its place is kept', () =>
    walk(async (page) => {
      let goOn;
      const held = new Promise((resolve) => (goOn = resolve));
      await page.route(/wc\/v3\/orders/, async (route) => {
        await held;
        await route.continue();
      });
      await page.goto(`${world.server.url}/portal/store/orders`);
      await page.locator('main [aria-busy=true]').first().waitFor();
      await page.getByText('Loading…').first().waitFor({ state: 'attached' });
      await isFitForEverybody(page, 'a list on its way');
      goOn();
      await page.locator('main tbody a').first().waitFor();
    }));

  test('a missing record shows a message and a way back', () =>
    walk(
      async (page) => {
        await open(page, '/store/orders?search=nobody-has-this-name');
        await page.getByText('No results').waitFor();
        await page.getByRole('button', { name: 'Show all' }).click();
        await page.locator('main tbody a').first().waitFor();
        await open(page, '/store/orders/999999999');
        await page.getByText('Order not found').first().waitFor();
        await open(page, '/plugins/nothing');
        await page.getByText('Plugin not found').waitFor();
        await open(page, '/connect');
        await page.getByText('Access was not granted').waitFor();
        await isFitForEverybody(page, 'nothing granted');
      },
      { allowed: [/404/] },
    ));

  test('a shop manager sees the store, and a message where access is missing', async () => {
    const login = `manager-${Date.now()}`;
    const user = { login, password: 'a walk on the pier 2026' };
    const { id } = await call('POST', 'wp/v2/users', {
      username: login,
      email: `${login}@example.org`,
      password: user.password,
      roles: ['shop_manager'],
    });
    await walk(
      async (page) => {
        await signIn(page, user);
        await open(page, '/store/orders');
        assert.equal(await page.getByRole('link', { name: 'API keys' }).count(), 0);
        await open(page, '/console/keys');
        await settled(page);
        await page.getByText('You don’t have access to this page').first().waitFor();
        await isFitForEverybody(page, 'keys are not for a shop manager');
      },
      { isSignedIn: false, allowed: [/40[13]/] },
    );
    await call('DELETE', `wp/v2/users/${id}?force=true&reassign=1`);
  });
});
