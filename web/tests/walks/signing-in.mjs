// Signing in and out.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFitForEverybody, open, signIn, walk, world } from '../support.mjs';

describe('signing in', () => {
  test('a stranger is asked to sign in', () =>
    walk(async (page) => {
      await open(page, '/analytics');
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
      await isFitForEverybody(page, 'the door');
    }, { isSignedIn: false, allowed: [/403/] }));

  test('a wrong password is refused with a sentence', () =>
    walk(async (page) => {
      await signIn(page, { ...world.server, password: 'not the password' });
      assert.match(page.url(), /login/);
      await page.getByText('User name and password do not match').waitFor();
      await isFitForEverybody(page, 'the refusal');
    }, { isSignedIn: false, allowed: [/403/] }));

  test('signing out ends the session', () =>
    walk(async (page) => {
      await open(page, '/store/orders');
      assert.match(await page.title(), /Orders/);
      await page.getByRole('link', { name: 'Sign out' }).click();
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
      await open(page, '/store/orders');
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
    }, { allowed: [/403/] }));
});
