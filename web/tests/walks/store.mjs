// The store: coupons, orders and refunds.
import { describe, test } from 'node:test';
import { open, walk } from '../support.mjs';

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
