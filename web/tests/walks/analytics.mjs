// Analytics: addresses that can be shared, filters, segments, sorting, and news.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { becomes, call, isFitForEverybody, open, settled, walk } from '../support.mjs';

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

  test('days of one’s own are compared with those a year before', () =>
    walk(async (page) => {
      await open(page, '/analytics');
      await page.getByLabel(/^Period/).selectOption('custom');
      await page.getByLabel('From').fill('2026-01-01');
      await page.waitForURL(/from=2026-01-01/);
      await page.getByLabel('to', { exact: true }).fill('2026-03-31');
      await page.getByLabel('Compare with').selectOption('previous_year');
      await page.waitForURL(/from=2026-01-01.*until=2026-03-31.*compare=previous_year/);
      await settled(page);
      await page
        .getByRole('link', { name: /Net sales/ })
        .first()
        .click();
      await page.waitForURL(/analytics\/revenue.*compare=previous_year/);
      await settled(page);
      assert.match(await page.textContent('.tiles'), /from/);
    }));

  test('figures are split by segments', () =>
    walk(async (page) => {
      await open(page, '/analytics/orders?period=year');
      await page.getByLabel('Split by').selectOption('customer_type');
      await page.waitForURL(/segmentby=customer_type/);
      const row = (name) =>
        page
          .locator('.scroll tr')
          .filter({ has: page.getByRole('cell', { name, exact: true }) })
          .first();
      await row('Returning').waitFor();
      const number = async (cell) => Number((await cell.textContent()).replace(/[^\d.]/g, ''));
      const part = (name, column) => number(row(name).locator('td').nth(column));
      const [orders, sales] = [1, 2];
      assert.ok((await part('Returning', orders)) > 0 && (await part('New', orders)) > 0);
      const whole = await number(page.locator('.tile', { hasText: 'Net sales' }).locator('.value'));
      assert.equal(
        ((await part('Returning', sales)) + (await part('New', sales))).toFixed(2),
        whole.toFixed(2),
      );
    }));

  test('split by product, revenue offers only what products have', () =>
    walk(async (page) => {
      await open(page, '/analytics/revenue?period=year');
      const tiles = () => page.locator('.tiles').textContent();
      assert.match(await tiles(), /Gross sales/);
      await page.getByLabel('Split by').selectOption('product');
      await page.getByRole('columnheader', { name: 'product', exact: true }).waitFor();
      assert.doesNotMatch(await tiles(), /Gross sales/);
      await page.getByRole('img', { name: /^Chart of Net sales/ }).waitFor();
    }));

  test('the hours of a day stand below its chart, without the day', () =>
    walk(async (page) => {
      const written = [];
      await page.exposeFunction('drawn', (text) => written.push(text));
      await page.addInitScript(() => {
        const draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
          globalThis.drawn(text);
          return draw.call(this, text, ...rest);
        };
      });
      await open(page, '/analytics/orders?period=yesterday');
      await page.getByRole('img', { name: /^Chart of/ }).waitFor();
      await becomes(async () => written.some((text) => /^0[1-6]:00$/.test(text)), true);
      assert.ok(!written.some((text) => /, \d\d:00/.test(text)), written.join(' | '));
    }));

  test('a filter finds things by their names', () =>
    walk(async (page) => {
      await open(page, '/analytics/orders?period=year');
      await page.selectOption('select.add', 'product_includes');
      await page.getByLabel('Search by name').fill('tee');
      await page
        .getByRole('dialog')
        .getByLabel(/Pier stripe tee/)
        .first()
        .check();
      await page.getByRole('button', { name: 'Apply' }).click();
      await page
        .getByText(/Product is/)
        .first()
        .waitFor();
      await page.getByRole('button', { name: /Product is Pier stripe tee/ }).waitFor();
      await page.getByRole('button', { name: /Remove filter: Product is/ }).click();
      assert.doesNotMatch(page.url(), /product_includes/);
    }));

  test('a table is sorted by its heads', () =>
    walk(async (page) => {
      await open(page, '/analytics/products?period=year');
      await page.getByRole('button', { name: 'Net sales', exact: true }).last().click();
      await settled(page);
      assert.equal(await page.getAttribute('th[aria-sort]', 'aria-sort'), 'descending');
    }));

  test('a report is exported as a file, sorted as it is shown and named by its days', () =>
    walk(async (page) => {
      await open(page, '/analytics/products?period=year');
      await page.getByRole('button', { name: 'Product', exact: true }).click();
      await page.getByRole('button', { name: /^Product ↓/ }).click();
      await settled(page);
      assert.match(page.url(), /order=asc/);
      const waiting = page.waitForEvent('download');
      await page.getByRole('button', { name: /Export/ }).click();
      const download = await waiting;
      const year = new Date().getUTCFullYear();
      assert.match(
        download.suggestedFilename(),
        new RegExp(`^products-${year}-01-01-to-${year}-\\d\\d-\\d\\d\\.csv$`),
      );
      const [, ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\n');
      const names = lines.map((line) =>
        line
          .replace(/^"|["'].*$/g, '')
          .split(',')[0]
          .toLowerCase(),
      );
      const rows = page.getByRole('region', { name: 'Rows' });
      const shown = await rows.locator('td:first-child').allTextContents();
      assert.deepEqual(
        names.slice(0, 5),
        shown.slice(0, 5).map((name) => name.trim().split(',')[0].toLowerCase()),
      );
    }));

  test('the best-selling category of last quarter stands beside its figures of the year before', () =>
    walk(async (page) => {
      await open(page, '/analytics/categories');
      await page.getByLabel(/^Period/).selectOption('last_quarter');
      await page.getByLabel('Compare with').selectOption('previous_year');
      await page.getByRole('button', { name: 'Net sales', exact: true }).last().click();
      await page.waitForURL(/orderby=net_revenue/);
      await settled(page);
      const rows = page.getByRole('region', { name: 'Rows' }).locator('tbody tr');
      const best = rows.first();
      assert.match(await best.textContent(), /[+−]?\d+%\s*from \$[\d,.]+/);
      // What is shown as before is what that quarter says by itself.
      const [name] = await best.locator('td').allTextContents();
      const shown = (await best.locator('td').nth(2).textContent()).match(/from \$([\d,.]+)/)[1];
      const now = new Date();
      const quarter = Math.floor(now.getUTCMonth() / 3) * 3;
      const day = (year, month, date) =>
        new Date(Date.UTC(year, month, date)).toISOString().slice(0, 10);
      const year = now.getUTCFullYear() - 1;
      const [from, until] = [day(year, quarter - 3, 1), day(year, quarter, 0)];
      await open(
        page,
        `/analytics/categories?period=custom&from=${from}&until=${until}&compare=none`,
      );
      const then = rows.filter({ hasText: name.trim() }).first();
      assert.match(await then.textContent(), new RegExp(`\\$${shown.replace('.', '\\.')}`));
    }));

  test('columns of a report are chosen, and stay so', () =>
    walk(async (page) => {
      await open(page, '/analytics/categories?period=year');
      const head = page.getByRole('columnheader', { name: 'Products' });
      await head.waitFor();
      const choose = async () => {
        await page.getByRole('button', { name: 'Columns' }).click();
        const kept = page.waitForResponse((answer) => answer.request().method() === 'POST');
        await page.getByRole('group', { name: 'Columns' }).getByLabel('Products').click();
        await kept;
      };
      await choose();
      await head.waitFor({ state: 'detached' });
      await isFitForEverybody(page, 'columns of a report');
      await open(page, '/analytics/categories?period=year');
      await page.getByRole('columnheader', { name: 'Net sales' }).waitFor();
      await becomes(() => head.count(), 0);
      await choose();
      await head.waitFor();
    }));

  test('a new order shows without loading the page again', () =>
    walk(async (page) => {
      await open(page, '/analytics/orders?period=today');
      const orders = async () =>
        Number((await page.locator('.tile .value').first().textContent()).replace(/\D/g, ''));
      const before = await orders();
      await call('POST', 'wc/v3/orders', {
        status: 'completed',
        set_paid: true,
        fee_lines: [{ name: 'Walk-in', total: '12.00' }],
      });
      await page.waitForFunction(
        (old) =>
          Number(document.querySelector('.tile .value')?.textContent?.replace(/\D/g, '')) > old,
        before,
      );
    }));
});
