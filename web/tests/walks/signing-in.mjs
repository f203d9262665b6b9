// Signing in and out.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, open, signIn, walk, world } from '../support.mjs';

describe('signing in', () => {
  test('a stranger is asked to sign in', () =>
    walk(
      async (page) => {
        await open(page, '/analytics');
        await page.getByRole('link', { name: 'Sign in' }).waitFor();
        await page.getByRole('link', { name: 'Register an ISO' }).waitFor();
        await isFitForEverybody(page, 'the door');
      },
      { isSignedIn: false },
    ));

  test('a wrong password is refused with a sentence', () =>
    walk(
      async (page) => {
        await signIn(page, { ...world.server, password: 'not the password' });
        assert.match(page.url(), /login/);
        await page.getByText('User name and password do not match').waitFor();
        await isFitForEverybody(page, 'the refusal');
      },
      { isSignedIn: false, allowed: [/403/] },
    ));

  test('a user without permissions is shown a message', async () => {
    const login = `walker-${Date.now()}`;
    const user = { login, password: 'a walk on the pier 2026' };
    const { id } = await call('POST', 'wp/v2/users', {
      username: login,
      email: `${login}@example.org`,
      password: user.password,
      roles: ['subscriber'],
    });
    await walk(
      async (page) => {
        await signIn(page, user);
        await open(page, '/');
        await page.getByText('You don’t have access to this page').waitFor();
        await isFitForEverybody(page, 'nothing to see');
        await open(page, '/store/settings');
        await page.getByText('You don’t have access to this page').first().waitFor();
      },
      { isSignedIn: false, allowed: [/403/] },
    );
    await call('DELETE', `wp/v2/users/${id}?force=true&reassign=1`);
  });

  test('the band says that this is the sandbox, and the keyboard can skip the menu', () =>
    walk(async (page) => {
      await open(page, '/store/orders');
      assert.match(
        await page.getByRole('region', { name: 'Environment' }).textContent(),
        /Sandbox/,
      );
      await page.keyboard.press('Tab');
      assert.equal(
        await page.evaluate(() => document.activeElement?.textContent),
        'Skip to content',
      );
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate(() => document.activeElement?.id), 'content');
    }));

  test('on a narrow screen the menu opens at a button', () =>
    walk(
      async (page) => {
        await open(page, '/store/orders');
        const menu = page.getByRole('navigation', { name: 'Menu' });
        assert.equal(await menu.isVisible(), false);
        await page.getByRole('button', { name: 'Menu' }).click();
        await menu.getByRole('link', { name: 'Coupons' }).waitFor();
        await menu.getByRole('button', { name: 'ISO console' }).click();
        await isFitForEverybody(page, 'the open menu');
        await menu.getByRole('link', { name: 'API keys' }).click();
        await page.getByRole('heading', { name: 'API keys' }).waitFor();
        assert.equal(await menu.isVisible(), false);
      },
      { options: { viewport: { width: 390, height: 844 } } },
    ));

  test('a session that ended leads to signing in, and back', () =>
    walk(
      async (page, context) => {
        await open(page, '/store/orders');
        await context.clearCookies();
        await page.getByRole('link', { name: 'Coupons' }).click();
        await page.getByText('Your session has ended').first().waitFor();
        assert.equal(await page.getByText('You don’t have access').count(), 0);
        await isFitForEverybody(page, 'a session that ended');
        await page.getByRole('link', { name: 'Sign in' }).first().click();
        await page.fill('input[name=log]', world.server.login);
        await page.fill('input[name=pwd]', world.server.password);
        await page.press('input[name=pwd]', 'Enter');
        await page.waitForURL(/portal\/store\/coupons/);
        await page.getByRole('heading', { name: 'Coupons' }).waitFor();

        await context.clearCookies();
        await page.getByRole('button', { name: 'ISO console' }).click();
        await page.getByRole('link', { name: 'API keys' }).click();
        await page.getByText('Your session has ended').first().waitFor();
      },
      { allowed: [/40[13]/] },
    ));

  test('signing out ends the session', () =>
    walk(
      async (page) => {
        await open(page, '/store/orders');
        assert.match(await page.title(), /Orders/);
        await page.getByRole('link', { name: 'Sign out' }).click();
        await page.getByRole('link', { name: 'Sign in' }).waitFor();
        await open(page, '/store/orders');
        await page.getByRole('link', { name: 'Sign in' }).waitFor();
      },
      { allowed: [/403/] },
    ));
});
