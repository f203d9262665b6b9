// Analytics: addresses that can be shared, filters, segments, sorting, and news.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { call, open, settled, walk } from '../support.mjs';

describe('analytics', () => {
  test('a range, a filter and a measure live in the address', () =>
    walk(async (page) => {
      await open(page, '/analytics/orders?period=year');
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
      await open(page, '/analytics/products?period=year');
      await page.getByRole('button', { name: 'Net sales', exact: true }).last().click();
      await settled(page);
      assert.equal(await page.getAttribute('th[aria-sort]', 'aria-sort'), 'descending');
    }));

  test('a new order shows without loading the page again', () =>
    walk(async (page) => {
      await open(page, '/analytics/orders?period=today');
      const orders = async () => Number((await page.locator('.tile .value').first().textContent()).replace(/\D/g, ''));
      const before = await orders();
      await call('POST', 'wc/v3/orders', { status: 'completed', set_paid: true, fee_lines: [{ name: 'Walk-in', total: '12.00' }] });
      await page.waitForFunction((old) => Number(document.querySelector('.tile .value')?.textContent?.replace(/\D/g, '')) > old, before);
    }));
});
