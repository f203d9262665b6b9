// What works on every page: the palette, keys, the question about unsaved changes, notes that end with
// their page, files that come late, and the number of unread messages.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, open, settled, walk, world } from '../support.mjs';

const option = (page, name) => page.getByRole('option', { name });

describe('everywhere', () => {
  test('the palette finds orders, customers, merchants, terminals and pages', () =>
    walk(async (page) => {
      const headers = { authorization: `Api-Key ${world.server.api_key}` };
      const ask = async (path) =>
        (await (await fetch(`${world.server.url}/v1/${path}`, { headers })).json()).data[0];
      const [order] = await call('GET', 'wc/v3/orders?per_page=1');
      const [customer] = await call('GET', 'wc/v3/customers?per_page=1');
      const [merchant, terminal] = [await ask('merchants?limit=1'), await ask('tpns?limit=1')];
      const tries = [
        [`#${order.number}`, `Order #${order.number}`, `/store/orders/${order.id}`],
        [customer.email, customer.email, `/store/customers/${customer.id}`],
        [merchant.dba, merchant.dba, `/merchants/${merchant.merchantId}`],
        [terminal.tpn, terminal.tpn, `/merchants/${terminal.merchantId}`],
        ['webhooks', 'Webhooks', '/console/webhooks'],
      ];
      await open(page, '/store/coupons');
      for (const [text, name, path] of tries) {
        await page.keyboard.press('Control+k');
        await page.getByRole('combobox', { name: 'Search orders' }).fill(text);
        await option(page, name).first().waitFor();
        await page.getByText(/^\d+ results?$/).waitFor({ state: 'attached' });
        await isFitForEverybody(page, `the palette with ${text}`);
        await page.keyboard.press('Enter');
        await page.waitForURL((url) => url.pathname === `/portal${path}`);
      }
      await page.getByRole('button', { name: 'Search' }).first().click();
      await page.getByRole('combobox', { name: 'Search orders' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('combobox', { name: 'Search orders' }).waitFor({ state: 'detached' });
    }));

  test('keys are listed at a question mark, and lead to pages', () =>
    walk(async (page) => {
      await open(page, '/store/coupons');
      await page.locator('h1').click();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      await isFitForEverybody(page, 'shortcuts');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('g');
      await page.keyboard.press('o');
      await page.waitForURL(/store\/orders$/);
      await page.getByLabel('Order number, name or e-mail').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('g o?');
      await page.waitForURL(/search=g/);
    }));

  test('unsaved changes are not lost without a question', () =>
    walk(async (page) => {
      await open(page, '/store/products');
      await page.locator('main tbody a').first().click();
      await settled(page);
      const address = page.url();
      await page.locator('#name').fill('Half a name');
      await page.getByRole('link', { name: '← Products' }).click();
      const dialog = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
      await dialog.waitFor();
      await isFitForEverybody(page, 'unsaved changes');
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      await page.goBack();
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      assert.equal(page.url(), address);
      assert.equal(await page.locator('#name').inputValue(), 'Half a name');
      await page.getByRole('link', { name: '← Products' }).click();
      await dialog.getByRole('button', { name: 'Discard changes' }).click();
      await page.waitForURL(/products$/);
      // Nothing is asked where nothing was typed, nor after saving.
      await page.locator('main tbody a').first().click();
      await settled(page);
      await page.getByRole('link', { name: '← Products' }).click();
      await page.waitForURL(/products$/);
    }));

  test('notes end with their page', () =>
    walk(async (page) => {
      const [order] = await call('GET', 'wc/v3/orders?status=processing&per_page=1');
      await open(page, `/store/orders/${order.id}`);
      await page.getByLabel('Add a note').fill('Rang the bell twice');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
      await page.waitForTimeout(800);
      await page.getByRole('link', { name: '← Orders' }).click();
      await page.getByText('Saved', { exact: true }).waitFor({ state: 'detached', timeout: 1500 });
    }));

  test('a file that does not come is asked for again', () =>
    walk(
      async (page) => {
        await open(page, '/store/orders');
        let refused = 0;
        await page.route(/assets\/Coupons-/, (route) =>
          refused++ < 2 ? route.abort() : route.continue(),
        );
        await page.getByRole('link', { name: 'Coupons', exact: true }).click();
        await page.getByRole('heading', { level: 1, name: 'Coupons' }).waitFor();
        assert.ok(refused >= 2);
      },
      { allowed: [/Failed to load resource|Failed to fetch/] },
    ));

  test('unread messages are counted in the menu', () =>
    walk(async (page) => {
      const list = 'wc-analytics/admin/notes?per_page=50&status[]=unactioned&status[]=actioned';
      const unread = async () => (await call('GET', `${list}&is_read=false`)).length;
      const [note] = await call('GET', list);
      await call('PUT', `wc-analytics/admin/notes/${note.id}`, { is_read: false });
      await open(page, '/store/inbox');
      await page.getByRole('img', { name: `${await unread()} unread`, exact: true }).waitFor();
      const item = page.locator('main li').filter({
        has: page.getByRole('heading', { name: note.title, exact: true }),
      });
      await item.first().getByRole('button', { name: 'Mark as read' }).click();
      await item
        .first()
        .getByRole('button', { name: 'Mark as read' })
        .waitFor({ state: 'detached' });
      const left = await unread();
      const badge = page.getByRole('img', {
        name: left ? `${left} unread` : /unread/,
        exact: true,
      });
      await badge.waitFor({ state: left ? 'visible' : 'detached' });
    }));
});
