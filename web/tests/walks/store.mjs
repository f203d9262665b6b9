// The store: coupons, orders and refunds.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { open, settled, walk } from '../support.mjs';

describe('the store', () => {
  test('a coupon is made, refused when its code is taken, and deleted after a question', () =>
    walk(async (page) => {
      for (const isSecond of [false, true]) {
        await open(page, '/store/coupons/new');
        await page.fill('#code', 'portal-test');
        await page.fill('#amount', '10');
        await page.getByRole('button', { name: 'Save' }).click();
        if (isSecond) await page.waitForSelector('.toasts .bad');
        else await page.waitForURL(/coupons\/\d+/);
      }
      await open(page, '/store/coupons?search=portal-test');
      await page.getByRole('link', { name: 'portal-test' }).click();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.waitForURL(/store\/coupons$/);
    }, { allowed: [/400/] }));

  test('an order gets a note and another status', () =>
    walk(async (page) => {
      await open(page, '/store/orders?status=processing');
      await page.locator('tbody a').first().click();
      await page.getByLabel('Add a note').fill('Called about the parcel');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.notes').getByText('Called about the parcel').waitFor();
      await page.getByLabel('Change the status').selectOption('completed');
      await page.locator('h1').getByText('completed').waitFor();
    }));

  test('a product and a setting are changed', () =>
    walk(async (page) => {
      await open(page, '/store/products?search=mug');
      await page.locator('tbody a').first().click();
      await page.locator('#regular_price').fill('15.50');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      await open(page, '/store/settings/general');
      await page.locator('#woocommerce_store_city').fill('Ocean City');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('One setting saved.').waitFor();
      await page.reload();
      await settled(page);
      assert.equal(await page.locator('#woocommerce_store_city').inputValue(), 'Ocean City');
    }));

  test('tasks of the setup lead to their pages', () =>
    walk(async (page) => {
      await open(page, '/store/setup');
      await page.getByText(/\d of \d done/).first().waitFor();
      await page.getByRole('link', { name: 'Begin' }).first().click();
      await page.waitForURL(/\/portal\/store\//);
    }));

  test('a plugin and a theme are installed, activated and switched off', () =>
    walk(async (page) => {
      await open(page, '/store/plugins');
      const card = page.locator('li', { has: page.getByRole('heading', { name: 'Parcels' }) });
      for (const step of ['Install', 'Activate', 'Deactivate', 'Activate', 'Deactivate']) await card.getByRole('button', { name: step, exact: true }).click();
      await card.getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await card.getByRole('button', { name: 'Install', exact: true }).waitFor();
      await open(page, '/store/themes');
      const theme = page.locator('li').filter({ has: page.getByRole('button', { name: 'Install', exact: true }) }).first();
      const name = await theme.getByRole('heading').textContent();
      const same = page.locator('li', { has: page.getByRole('heading', { name }) });
      for (const step of ['Install', 'Activate', 'Deactivate']) await same.getByRole('button', { name: step, exact: true }).click();
      await same.getByRole('button', { name: 'Activate', exact: true }).waitFor();
    }));

  test('an order is refunded in part', () =>
    walk(async (page) => {
      await open(page, '/store/orders?status=completed');
      await page.locator('tbody a').first().click();
      await page.getByRole('button', { name: 'Refund…' }).click();
      await page.getByLabel('Amount instead').fill('1');
      await page.getByRole('button', { name: /^Refund / }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByText('Refunded').first().waitFor();
    }));
});
