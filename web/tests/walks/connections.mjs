// A store is connected on its own authorization page, copied, looked at in the portfolio, paused and
// disconnected. The store is the demo's own.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  becomes,
  call,
  isFitForEverybody,
  onboarding,
  open,
  settled,
  walk,
  world,
} from '../support.mjs';

/** Thousands of orders are copied, on a busy machine. */
const COPIED_MS = 300_000;

const YEARS = 'from=2000-01-01&to=2100-01-01';

/** Of the orders, those that a store shows: carts at the checkout are none yet. */
const ordersOf = async () =>
  (await call('GET', 'wc/v3/reports/orders/totals'))
    .filter(({ slug }) => slug !== 'checkout-draft')
    .reduce((sum, { total }) => sum + total, 0);

/** Connects the demo's own store without a key, and gives the address on which its owner approves it. */
async function connect(page) {
  await open(page, '/merchants/connected');
  await page.getByRole('button', { name: 'Connect a store' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Store URL').fill(world.server.url);
  await isFitForEverybody(page, 'connecting a store');
  await dialog.getByRole('button', { name: 'Connect a store' }).click();
  const link = page.locator('section', { hasText: 'Approve the connection' }).locator('code');
  const url = await link.textContent();
  await page.getByText('Key for reports').waitFor();
  await isFitForEverybody(page, 'a store to be approved');
  return url;
}

/** Sets a rate, converts by it, and takes it away again. */
async function convert(page) {
  const [{ currency, netSales }] = (await onboarding('GET', `portfolio?${YEARS}`)).totals;
  await page.getByRole('button', { name: 'Add a rate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('From currency').fill(currency);
  await dialog.getByLabel('Into currency').fill('XTS');
  await dialog.getByLabel(/^Rate/).fill('2');
  await dialog.getByLabel('Applies from').fill('2000-01-01');
  await dialog.getByRole('button', { name: 'Add a rate' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByLabel('Convert into').selectOption('XTS');
  await page.getByText(`1 ${currency} = 2 XTS`).waitFor();
  await page.getByLabel('Sort by').selectOption('growth');
  await settled(page);
  await isFitForEverybody(page, 'a portfolio that is converted');
  const converted = await onboarding('GET', `portfolio?${YEARS}&currency=XTS`);
  assert.ok(Math.abs(converted.totals[0].netSales - 2 * netSales) < 0.011);
  assert.deepEqual(converted.leftOut, []);
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No exchange rates yet').waitFor();
}

describe('connected stores', () => {
  test('a store is approved on its own page, copied, paused and disconnected', () =>
    walk(async (page) => {
      await page.goto(await connect(page));
      await page.getByRole('link', { name: 'Approve' }).click();
      await page.getByText('Access was granted').waitFor();

      await open(page, '/merchants/connected');
      await page.locator('main tbody a').first().click();
      await page.getByText('The store was checked').waitFor({ timeout: COPIED_MS });
      await page.getByText('The key can create webhooks').waitFor();
      await isFitForEverybody(page, 'a store that was checked');
      await page.getByRole('button', { name: 'Start copying' }).click();
      await page.getByText('The copy is complete').waitFor({ timeout: COPIED_MS });
      const [{ connectionId }] = (await onboarding('GET', 'connections')).data;
      const shown = () => onboarding('GET', `connections/${connectionId}`);
      assert.equal((await shown()).counts.orders, await ordersOf());
      await isFitForEverybody(page, 'a connected store');

      const sums = async () => (await onboarding('GET', `portfolio?${YEARS}`)).totals.length;
      await becomes(sums, 1, 600);
      await open(page, '/merchants/portfolio?period=year&by=store');
      await page.locator('main tbody a').first().waitFor();
      await isFitForEverybody(page, 'the portfolio');
      await convert(page);
      await open(page, '/merchants/portfolio?period=year&by=store');
      await page.locator('main tbody a').first().click();

      await page.getByRole('button', { name: 'Replace key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replace key' }).click();
      await page.getByText('It is shown only once').waitFor();
      await isFitForEverybody(page, 'a replaced key for reports');

      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByText('until you resume').waitFor();
      assert.equal((await shown()).status, 'paused');
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByText('The copy is complete').waitFor({ timeout: COPIED_MS });

      await page.getByRole('button', { name: 'Disconnect' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
      await page.waitForURL(/merchants\/connected$/);
      await settled(page);
    }));
});
