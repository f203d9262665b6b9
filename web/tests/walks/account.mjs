// One's own account: passwords and keys of one's programs.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  becomes,
  call,
  isFitForEverybody,
  open,
  save,
  settled,
  signIn,
  walk,
  world,
} from '../support.mjs';

describe('the account', () => {
  test('an application password is shown once, works, and ends when it is revoked', () =>
    walk(async (page) => {
      await open(page, '/account');
      await page.getByRole('button', { name: 'New application password' }).click();
      await page.getByLabel('Program name').fill('Warehouse');
      await isFitForEverybody(page, 'the question for a name');
      await page
        .getByRole('dialog')
        .getByRole('button', { name: 'New application password' })
        .click();
      const password = await page.locator('.once code').textContent();
      const asked = () =>
        fetch(`${world.server.url}/wp-json/wp/v2/users/me`, {
          headers: {
            authorization: `Basic ${Buffer.from(`${world.server.login}:${password}`).toString('base64')}`,
          },
        });
      assert.equal((await asked()).status, 200);
      await page.getByRole('button', { name: 'Done' }).click();
      await page
        .getByRole('row', { name: /Warehouse/ })
        .getByRole('button', { name: 'Revoke' })
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('row', { name: /Warehouse/ }).waitFor({ state: 'detached' });
      await becomes(async () => (await asked()).status, 401);
      assert.equal(await page.getByText(password).count(), 0);
    }));

  test('somebody changes their name, address and password, and stays signed in', async () => {
    const login = `self-${Date.now()}`;
    const user = { login, password: 'a walk on the pier 2026' };
    const { id } = await call('POST', 'wp/v2/users', {
      username: login,
      email: `${login}@example.org`,
      password: user.password,
      roles: ['shop_manager'],
    });
    await walk(
      async (page, context) => {
        await signIn(page, user);
        const other = await context.browser().newContext();
        const elsewhere = await other.newPage();
        await signIn(elsewhere, user);
        await open(page, '/account');
        await page.getByLabel('E-mail').fill('not-mail');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Check: E-mail').waitFor();
        await isFitForEverybody(page, 'errors of an account');
        await page.getByLabel('E-mail').fill(`${login}@pier.example`);
        await page.fill('#me-name', 'Ada of the Pier');
        await save(page);
        await page.getByRole('link', { name: /Ada of the Pier/ }).waitFor();
        await page.getByLabel('New password').fill('short');
        await page.getByRole('button', { name: 'Change password' }).click();
        await page.getByText('Check: New password').waitFor();
        await page.getByLabel('New password').fill('another walk on the pier');
        await page.getByRole('button', { name: 'Change password' }).click();
        await page.getByText('Password changed.').waitFor();
        await open(page, '/store/orders');
        await page.locator('main tbody a').first().waitFor();
        await open(elsewhere, '/store/orders');
        await elsewhere.getByRole('link', { name: 'Sign in' }).waitFor();
        await signIn(elsewhere, { login, password: 'another walk on the pier' });
        await open(elsewhere, '/store/orders');
        await elsewhere.locator('main tbody a').first().waitFor();
        await other.close();
      },
      { isSignedIn: false, allowed: [/40[03]/] },
    );
    await call('DELETE', `wp/v2/users/${id}?force=true&reassign=1`);
  });

  test('a program asks for a password of its own, and gets it when the user agrees', () =>
    walk(async (page) => {
      await page.goto(`${world.server.url}/authorize-application?app_name=Walk`);
      await isFitForEverybody(page, 'the page that asks');
      await page
        .getByRole('button', { name: /yes|approve|allow/i })
        .first()
        .click();
      await page.waitForLoadState('load');
      assert.match(await page.textContent('main'), /(\w{4} ){5}\w{4}/);
    }));

  test('somebody registers an ISO, opens the e-mail, chooses a password, and signs in', () =>
    walk(
      async (page) => {
        const email = `ada-${Date.now().toString(36)}@pier.example`;
        await open(page, '/register');
        await isFitForEverybody(page, 'the registration');
        await page.getByLabel(/^Phone/).fill('212');
        await page.getByText('At least 10 characters').waitFor();
        await page.getByLabel(/^Phone/).fill('2125550142');
        await page.getByLabel(/^Name/).fill('Pier Payments');
        await page.getByLabel(/^Your name/).fill('Ada Pier');
        await page.getByLabel(/^E-mail/).fill(email);
        await page.getByRole('button', { name: 'Register' }).click();
        await page.getByText('Check your e-mail').first().waitFor();
        await isFitForEverybody(page, 'the e-mail is sent');
        const [, token] = await world.server.mail.find(
          new RegExp(`${email}[^]*/portal/register\\?token=(\\w+)`),
        );
        await open(page, '/register?token=nonsense');
        await page.getByLabel(/^Password/).fill('correct horse battery');
        await page.getByRole('button', { name: 'Finish' }).click();
        await page.getByRole('alert').waitFor();
        await open(page, `/register?token=${token}`);
        await page.getByLabel(/^Password/).fill('short');
        await page
          .getByText(/At least \d+ characters/)
          .first()
          .waitFor();
        await page.getByLabel(/^Password/).fill('correct horse battery');
        await isFitForEverybody(page, 'the choice of a password');
        await page.getByRole('button', { name: 'Finish' }).click();
        const key = await page.getByText(/^bw_test_/).textContent();
        const listed = await fetch(`${world.server.url}/v1/merchants`, {
          headers: { authorization: `Api-Key ${key}` },
        });
        assert.equal(listed.status, 200);
        await isFitForEverybody(page, 'the first key');
        await signIn(page, { login: email, password: 'correct horse battery' });
        await open(page, '/merchants');
        await page.getByText('No merchants yet').waitFor();
        assert.equal(await page.getByRole('link', { name: 'Revenue' }).count(), 0);
        await isFitForEverybody(page, 'a new ISO');
      },
      { isSignedIn: false, allowed: [/40\d/] },
    ));

  test('a consumer key is shown once, and taken back', () =>
    walk(async (page) => {
      await open(page, '/account');
      await page.getByRole('button', { name: 'New consumer key' }).click();
      await page.getByLabel('Description').fill('Till');
      await page.getByLabel('Permissions').selectOption('read_write');
      await page.getByRole('dialog').getByRole('button', { name: 'New consumer key' }).click();
      await page.getByText(/^ck_/).waitFor();
      await page.getByText(/^cs_/).waitFor();
      await settled(page);
      const row = page.getByRole('row', { name: /Till/ });
      assert.match(await row.textContent(), /read and write/);
      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await row.waitFor({ state: 'detached' });
    }));
});
