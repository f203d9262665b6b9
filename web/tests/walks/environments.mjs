// Sandbox and production: which of them one is in cannot be overlooked, and the way to the other one.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isFitForEverybody, open, signIn, startBoth, walk } from '../support.mjs';

describe('environments', () => {
  let both;
  before(async () => {
    both = await startBoth();
  });
  after(() => both?.stop());
  const hosts = () => [both.sandbox, both.production];
  const band = (page) => page.getByRole('region', { name: 'Environment' });
  const colour = (page) => band(page).evaluate((node) => getComputedStyle(node).backgroundColor);

  test('production says so on every page, in another colour, and leads to the sandbox', () =>
    walk(
      async (page) => {
        await signIn(page, { ...both, url: both.production });
        await open(page, '/store/orders', both.production);
        assert.match(await band(page).textContent(), /Production.*Live merchants and payments/s);
        assert.match(await page.title(), /production/i);
        await isFitForEverybody(page, 'production');
        const real = await colour(page);
        // It stays in sight when one scrolls.
        assert.equal(
          await band(page).evaluate((node) => getComputedStyle(node).position),
          'sticky',
        );
        await band(page).getByRole('link', { name: 'Switch to sandbox' }).click();
        await page.waitForURL((url) => url.origin === both.sandbox);
        await signIn(page, { ...both, url: both.sandbox });
        await open(page, '/store/orders', both.sandbox);
        assert.match(await band(page).textContent(), /Sandbox.*Test data only/s);
        assert.notEqual(await colour(page), real);
        const back = await band(page)
          .getByRole('link', { name: 'Switch to production' })
          .getAttribute('href');
        assert.equal(back, `${both.production}/portal/store/orders`);
      },
      { isSignedIn: false, allowed: [/403/], hosts: hosts() },
    ));

  test('in production nothing can be tried from the reference', () =>
    walk(
      async (page) => {
        await signIn(page, { ...both, url: both.production });
        await open(page, '/reference', both.production);
        assert.equal(
          await page.getByRole('button', { name: 'Send to sandbox' }).isDisabled(),
          true,
        );
        await page.getByText('You can only try requests in the sandbox').waitFor();
      },
      { isSignedIn: false, hosts: hosts() },
    ));

  test('an empty site shows empty pages that say what to do', () =>
    walk(
      async (page) => {
        await signIn(page, { ...both, url: both.production });
        for (const [path, text] of [
          ['/merchants', 'No ISOs yet'],
          ['/console/isos', 'No ISOs yet'],
          ['/store/orders', 'No orders yet'],
          ['/store/coupons', 'No coupons yet'],
          ['/analytics/orders', 'No data for this period'],
        ]) {
          await open(page, path, both.production);
          await page.getByText(text).first().waitFor();
          await isFitForEverybody(page, path);
        }
      },
      { isSignedIn: false, hosts: hosts() },
    ));

  test('where registration is closed, nothing links to it, and the page says what to do', () =>
    walk(
      async (page) => {
        await open(page, '/', both.production);
        await page.getByRole('link', { name: 'Sign in' }).waitFor();
        assert.equal(await page.getByRole('link', { name: 'Register an ISO' }).count(), 0);
        await open(page, '/register', both.production);
        await page.getByText('Registration is closed').waitFor();
        assert.equal(await page.getByRole('textbox').count(), 0);
        await isFitForEverybody(page, 'closed registration');
      },
      { isSignedIn: false, hosts: hosts() },
    ));
});
