// Getting back in, and keeping others out: a forgotten password, a second factor, sessions.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import { PROVIDER_NAME } from '../provider.mjs';
import { call, isFitForEverybody, open, settled, signIn, walk, world } from '../support.mjs';

const PASSWORD = 'a walk on the pier 2026';

async function withUser(work) {
  const login = `safe-${Date.now().toString(36)}`;
  const { id } = await call('POST', 'wp/v2/users', {
    username: login,
    email: `${login}@pier.example`,
    password: PASSWORD,
    roles: ['shop_manager'],
  });
  await work(login, id);
  await call('DELETE', `wp/v2/users/${id}?force=true&reassign=1`);
}

/** What an authenticator app shows for the secret, so many steps of 30 seconds from now. */
function code(secret, ahead) {
  const bits = [...secret]
    .map((letter) =>
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
    )
    .join('');
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigInt64BE(BigInt(Math.floor(Date.now() / 30_000) + ahead));
  const mac = createHmac('sha1', key).update(step).digest();
  const number = mac.readUInt32BE(mac.at(-1) & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

describe('security of an account', () => {
  test('a forgotten password is reset with the link of an e-mail', () =>
    withUser((login) =>
      walk(
        async (page) => {
          await page.goto(`${world.server.url}/login`);
          await page.getByRole('link', { name: 'Forgot your password?' }).click();
          await isFitForEverybody(page, 'a forgotten password');
          await page.getByLabel('Username or e-mail address').fill(login);
          await page.getByRole('button', { name: 'Send a link' }).click();
          await page.getByText('Check your e-mail').waitFor();
          const [, path] = await world.server.mail.find(
            new RegExp(`${login}@[^]*(/login\\?action=rp&key=[\\w-]+)`),
          );
          await page.goto(`${world.server.url}${path}`);
          await page.getByLabel('New password').fill('password');
          await page.getByRole('button', { name: 'Change password' }).click();
          await page.getByText('too easy to guess').waitFor();
          await isFitForEverybody(page, 'a password that is too easy');
          await page.getByLabel('New password').fill('another walk on the pier');
          await page.getByRole('button', { name: 'Change password' }).click();
          await page.getByText('Password changed').waitFor();
          await signIn(page, { login, password: 'another walk on the pier' });
          await open(page, '/store/orders');
          await page.goto(`${world.server.url}${path}`);
          await page.getByText('This link does not work').waitFor();
        },
        { isSignedIn: false, allowed: [/40[03]/] },
      ),
    ));

  test('a second factor is turned on, asked for, and reset by an administrator', () =>
    withUser((login, id) =>
      walk(
        async (page, context) => {
          await signIn(page, { login, password: PASSWORD });
          await open(page, '/account');
          const card = page.locator('#second-factor');
          await card.getByRole('button', { name: 'Turn on' }).click();
          const question = page.getByRole('dialog');
          await question.getByLabel('Current password').fill('not the password');
          await question.getByRole('button', { name: 'Continue' }).click();
          await question.getByText('The password is wrong').waitFor();
          await isFitForEverybody(page, 'the question for the password');
          await question.getByLabel('Current password').fill(PASSWORD);
          await question.getByRole('button', { name: 'Continue' }).click();
          const secret = await card.locator('code').textContent();
          await isFitForEverybody(page, 'a second factor to scan');
          await card.locator('#factor-code').fill(code(secret, -1));
          await card.getByRole('button', { name: 'Turn on' }).click();
          const recovery = (await card.locator('.once code').textContent()).split(/\s+/);
          assert.equal(recovery.length, 10);
          await isFitForEverybody(page, 'recovery codes');
          await context.clearCookies();
          await signIn(page, { login, password: PASSWORD });
          await page.getByText('authenticator app').waitFor();
          await isFitForEverybody(page, 'the question for a code');
          await page.getByLabel('Code').fill('000000');
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.getByText('The code is wrong').waitFor();
          await page.getByLabel('Code').fill(recovery[0]);
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.waitForURL(/portal/);
          await open(page, '/account');
          await card.getByText('Unused recovery codes: 9').waitFor();

          await context.clearCookies();
          await signIn(page);
          await open(page, `/users/${id}`);
          await page.getByRole('button', { name: 'Reset two-factor' }).click();
          await page.getByRole('dialog').getByRole('button', { name: 'Reset two-factor' }).click();
          await page.getByText('Two-factor authentication reset').waitFor();
          await context.clearCookies();
          await signIn(page, { login, password: PASSWORD });
          await open(page, '/store/orders');
          await page.getByRole('heading', { name: 'Orders' }).waitFor();
        },
        { isSignedIn: false, allowed: [/40[03]/] },
      ),
    ));

  test('somebody signs out in another browser, and everywhere else', () =>
    withUser((login) =>
      walk(
        async (page, context) => {
          const user = { login, password: PASSWORD };
          await signIn(page, user);
          const others = [];
          for (let number = 0; number < 2; number++) {
            const other = await context.browser().newContext();
            const elsewhere = await other.newPage();
            await signIn(elsewhere, user);
            others.push({ other, elsewhere });
          }
          await open(page, '/account');
          const card = page.locator('#sessions');
          assert.equal(await card.locator('tbody tr').count(), 3);
          await isFitForEverybody(page, 'the sessions');
          await card.getByRole('button', { name: 'Sign out', exact: true }).first().click();
          await page.getByText('Signed out', { exact: true }).waitFor();
          await settled(page);
          assert.equal(await card.locator('tbody tr').count(), 2);
          await card.getByRole('button', { name: 'Sign out everywhere else' }).click();
          await card.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
          for (const { other, elsewhere } of others) {
            await open(elsewhere, '/store/orders');
            await elsewhere.getByRole('link', { name: 'Sign in' }).waitFor();
            await other.close();
          }
        },
        { isSignedIn: false, allowed: [/40[13]/] },
      ),
    ));

  test('a company account signs in whose address is verified and known', () =>
    withUser(async (login, id) => {
      /** Signs in at the provider in a browser of its own, and gives the page that one comes back to. */
      const signInThere = async (context, email, work) => {
        const other = await context.browser().newContext();
        const page = await other.newPage();
        await page.goto(`${world.server.url}/login`);
        await page.getByRole('link', { name: `Sign in with ${PROVIDER_NAME}` }).click();
        assert.ok(page.url().startsWith(world.server.issuer), page.url());
        await page.locator('input[name=login]').fill(email);
        await page.locator('input[name=password]').fill('whatever it is there');
        await page.locator('button[type=submit]').click();
        await page.locator('button[type=submit]').click();
        await page.waitForURL((url) => url.href.startsWith(world.server.url));
        await work(page);
        await other.close();
      };
      const isRefused = (page) =>
        page.getByText('There is no account with your verified e-mail address').waitFor();
      await walk(async (_, context) => {
        await signInThere(context, 'nobody@pier.example', isRefused);
        const unverified = `unverified-${login}@pier.example`;
        await call('POST', `wp/v2/users/${id}`, { email: unverified });
        await signInThere(context, unverified, isRefused);
        await call('POST', `wp/v2/users/${id}`, { email: `${login}@pier.example` });
        await signInThere(context, `${login}@pier.example`, async (page) => {
          await open(page, '/account');
          await page.getByText(login, { exact: true }).first().waitFor();
        });
        await world.server.mail.find(new RegExp(`company account[^]*${login}`));
        // Known by the provider's name for them, not by the address.
        await call('POST', `wp/v2/users/${id}`, { email: `${login}@another.example` });
        await signInThere(context, `${login}@pier.example`, (page) => open(page, '/account'));
        // What comes back without the cookie of this browser is worth nothing.
        const forged = await fetch(`${world.server.url}/login/openid?code=x&state=y`);
        assert.equal(forged.status, 403);
      });
    }));
});
