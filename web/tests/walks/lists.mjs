// Lists: filters, sorting, columns, selected rows, files and saved views. The numbers of steps are those of
// docs/portal.md.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, open, settled, signIn, walk, world } from '../support.mjs';

const loaded = (page, part) =>
  page.waitForResponse((answer) => answer.url().includes(part) && answer.ok());

/** Preferences are kept with the user. */
const stored = (page) =>
  page.waitForResponse(
    (answer) => answer.request().method() === 'POST' && /users\/\d+$/.test(answer.url()),
  );

/** The texts of a column, by its head. */
async function column(page, head) {
  const heads = await page.locator('main thead th').allTextContents();
  const index = heads.findIndex((text) => text.trim().startsWith(head));
  assert.ok(index >= 0, `a column ${head} among ${heads}`);
  const cells = page.locator(`main tbody td:nth-child(${index + 1})`);
  return (await cells.allTextContents()).map((text) => text.trim());
}

describe('lists', () => {
  test('orders are filtered by date, status, customer and product, and sorted', () =>
    walk(async (page) => {
      const orders = await call('GET', 'wc/v3/orders?status=completed&per_page=50');
      const order = orders.find((one) => one.customer_id > 0);
      const [{ product_id: product }] = order.line_items;
      const { name } = await call('GET', `wc/v3/products/${product}`);
      const { email } = await call('GET', `wc/v3/customers/${order.customer_id}`);
      const day = order.date_created.slice(0, 10);
      await open(page, '/store/orders');
      await page.getByLabel('All statuses').selectOption('completed');
      await page.getByRole('button', { name: 'Filters' }).click();
      await page.getByLabel('From').fill(day);
      await page.getByLabel('To', { exact: true }).fill(day);
      await page.getByRole('combobox', { name: 'Customer' }).fill(email);
      await page.getByRole('option', { name: email }).click();
      await page.getByRole('combobox', { name: 'Product' }).fill(name);
      await page.getByRole('option', { name, exact: true }).first().click();
      await page.waitForURL(/product=\d+/);
      await settled(page);
      await isFitForEverybody(page, 'filters of orders');
      assert.match(
        page.url(),
        new RegExp(`from=${day}&until=${day}&customer=.*product=${product}`),
      );
      await page.getByRole('link', { name: `#${order.number}`, exact: true }).waitFor();
      await page.getByText('Product:').waitFor();
      await page.getByRole('button', { name: 'Clear all' }).click();
      await page.getByRole('button', { name: 'Order', exact: true }).click();
      await page.getByRole('button', { name: 'Order ↓' }).click();
      await page.waitForURL(/orderby=id&order=asc/);
      await settled(page);
      const numbers = (await column(page, 'Order')).map((text) => Number(text.slice(1)));
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
      );
    }));

  test('the number of an order finds it', () =>
    walk(async (page) => {
      const [, order] = await call('GET', 'wc/v3/orders?per_page=2');
      await open(page, '/store/orders');
      for (const text of [`#${order.number}`, order.number]) {
        const answer = loaded(page, `number=${order.number}`);
        await page.getByLabel('Order number, name or e-mail').fill(text);
        await answer;
        await settled(page);
        assert.deepEqual(await column(page, 'Order'), [`#${order.number}`]);
        await page.getByLabel('Order number, name or e-mail').fill('');
        await page.waitForURL(/orders$/);
      }
    }));

  test('orders are selected and moved on together', () =>
    walk(async (page) => {
      const ids = [];
      for (let made = 0; made < 2; made++) {
        const body = { status: 'pending', billing: { last_name: 'Together' } };
        ids.push((await call('POST', 'wc/v3/orders', body)).id);
      }
      await open(page, '/store/orders?status=pending');
      for (const id of ids) await page.getByLabel(`Select #${id}`).check();
      await page.getByText('2 selected').waitFor();
      await isFitForEverybody(page, 'selected orders');
      await page.getByLabel('Actions').selectOption('Mark as on hold');
      await page.getByText('2 orders marked as on hold').waitFor();
      for (const id of ids)
        assert.equal((await call('GET', `wc/v3/orders/${id}`)).status, 'on-hold');
      // What cannot be taken back is asked first.
      await open(page, '/store/orders?search=Together');
      await page.getByLabel('Select all rows on this page').check();
      await page.getByLabel('Actions').selectOption('Mark as cancelled');
      await page.getByText('their items are restocked').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Mark as cancelled' }).click();
      await page.getByText(/orders marked as cancelled/).waitFor();
    }));

  test('a view and columns are the same in another browser, and columns are in the file', () =>
    walk(async (page) => {
      await call('POST', 'wp/v2/users/me', { meta: { persisted_preferences: {} } });
      await open(page, '/store/orders');
      await page.getByLabel('All statuses').selectOption('cancelled');
      await page.waitForURL(/status=cancelled/);
      await page.getByRole('button', { name: 'Columns' }).click();
      const kept = stored(page);
      await page.getByLabel('Payment method').check();
      await kept;
      await isFitForEverybody(page, 'columns of orders');
      await page.getByRole('columnheader', { name: 'Payment method' }).waitFor();
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Called off');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByText('View “Called off” saved').waitFor();

      const another = await world.browser.newContext();
      const other = await another.newPage();
      await signIn(other);
      await open(other, '/store/orders');
      await other.getByRole('link', { name: 'Called off' }).click();
      await other.waitForURL(/status=cancelled/);
      await settled(other);
      await isFitForEverybody(other, 'a saved view');
      assert.ok((await column(other, 'Status')).every((status) => status === 'cancelled'));
      const saved = other.waitForEvent('download');
      await other.getByRole('button', { name: 'Export CSV' }).click();
      const file = await saved;
      assert.match(file.suggestedFilename(), /^orders-\d{4}-\d\d-\d\d\.csv$/);
      const [head, ...rows] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
      assert.equal(head, 'Order,Date,Status,Customer,Payment method,Total');
      const all = await fetch(`${world.server.url}/wp-json/wc/v3/orders?status=cancelled`, {
        headers: {
          authorization: `Basic ${btoa(`${world.server.login}:${world.server.application_password}`)}`,
        },
      });
      assert.equal(rows.length, Number(all.headers.get('x-wp-total')));
      await other.getByRole('button', { name: 'Delete view' }).click();
      await other.getByText('View “Called off” deleted').waitFor();
      await other.getByRole('button', { name: 'Columns' }).click();
      const reset = stored(other);
      await other.getByLabel('Payment method').uncheck();
      await reset;
      await another.close();
    }));

  test('merchants, products, coupons and events are lists of the same kind', () =>
    walk(async (page) => {
      for (const [path, name] of [
        ['/merchants', 'merchants'],
        ['/store/products?stock_status=instock', 'products'],
        ['/store/coupons', 'coupons'],
        ['/console/events', 'events'],
      ]) {
        await open(page, path);
        const saved = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Export CSV' }).click();
        assert.match((await saved).suggestedFilename(), new RegExp(`^${name}-`));
        await page.getByRole('button', { name: 'Columns' }).click();
        await page.locator('#list-columns input').first().waitFor();
        await isFitForEverybody(page, path);
      }
      await open(page, '/store/products');
      await page.getByRole('button', { name: 'Price' }).click();
      await page.waitForURL(/orderby=price/);
      await settled(page);
      assert.ok((await page.locator('tbody tr').count()) > 3);
    }));
});
