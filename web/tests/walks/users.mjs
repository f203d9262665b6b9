// Users: who has an account, what they may do, and how they come and go.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, open, save, settled, signIn, walk, world } from '../support.mjs';

describe('users', () => {
  test('somebody is given an account and another role, and is removed after a question', () =>
    walk(
      async (page, context) => {
        const login = `clerk-${Date.now()}`;
        const password = 'a walk on the pier 2026';
        await open(page, '/users');
        await page.getByRole('link', { name: 'New user' }).click();
        await settled(page);
        await page.getByRole('button', { name: 'New user' }).click();
        await page.getByText('Check: Username, E-mail, Password').waitFor();
        await isFitForEverybody(page, 'errors of a user');
        await page.fill('#username', world.server.login);
        await page.fill('#email', `${login}@example.org`);
        await page.fill('#password', password);
        await page.getByRole('button', { name: 'New user' }).click();
        await page.getByRole('alert').waitFor();
        await page.fill('#username', login);
        await page.getByRole('button', { name: 'New user' }).click();
        await page.waitForURL(/users\/\d+/);
        await page.getByText(`Signs in as ${login}`).waitFor();
        const other = await context.browser().newContext();
        const elsewhere = await other.newPage();
        await signIn(elsewhere, { login, password });
        await open(elsewhere, '/store/orders');
        await elsewhere.locator('main tbody a').first().waitFor();
        await other.close();
        await page.getByLabel('Shop manager').uncheck();
        await page.getByLabel('Editor').check();
        await save(page);
        const [made] = await call('GET', `wp/v2/users?search=${login}&context=edit`);
        assert.deepEqual(made.roles, ['editor']);
        await open(page, `/users?search=${login}`);
        await page.getByRole('link', { name: login }).click();
        await page.getByRole('button', { name: 'Delete' }).click();
        await page.getByText('permanently deletes the account').waitFor();
        await isFitForEverybody(page, 'the question before a user is removed');
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
        await page.waitForURL(/portal\/users$/);
        assert.deepEqual(await call('GET', `wp/v2/users?search=${login}&context=edit`), []);
      },
      { allowed: [/400|403/] },
    ));

  test('nobody removes themselves, nor gives up what they need to get it back', () =>
    walk(
      async (page) => {
        await open(page, `/users?search=${world.server.login}`);
        await page.locator('main tbody a').first().click();
        await page.getByText(`Signs in as ${world.server.login}`).waitFor();
        assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
        await page.getByLabel('Administrator', { exact: true }).uncheck();
        await page.getByLabel('Editor').check();
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('You cannot remove your own permission to edit users').waitFor();
      },
      { allowed: [/40\d/] },
    ));

  test('what is kept about a buyer is shown, saved and erased', () =>
    walk(
      async (page) => {
        const email = `buyer-${Date.now()}@example.org`;
        const billing = { first_name: 'Grace', last_name: 'Pier', email };
        const [product] = await call('GET', 'wc/v3/products?type=simple&per_page=1');
        const line_items = [{ product_id: product.id, quantity: 1, total: '12.00' }];
        const order = await call('POST', 'wc/v3/orders', { billing, line_items });
        await open(page, '/users/privacy');
        await page.getByRole('button', { name: 'Find personal data' }).click();
        await page.getByText('Check: E-mail address').waitFor();
        await page.fill('#email', `nobody-${email}`);
        await page.getByRole('button', { name: 'Find personal data' }).click();
        await page.getByText('Nothing is stored about this address').waitFor();
        await page.fill('#email', email);
        await page.getByRole('button', { name: 'Find personal data' }).click();
        await page.getByText('Grace').first().waitFor();
        await isFitForEverybody(page, 'what is kept about a buyer');
        const saved = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Download as JSON' }).click();
        const text = await readFile(await (await saved).path(), 'utf8');
        assert.equal(JSON.parse(text).email, email);
        await page.getByRole('button', { name: 'Erase' }).click();
        await page.getByText('orders keep their date, items and amounts').waitFor();
        await isFitForEverybody(page, 'the question before a buyer is forgotten');
        await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
        await page.getByText('Orders and refunds: 1').waitFor();
        const kept = await call('GET', `wc/v3/orders/${order.id}`);
        assert.notEqual(kept.billing.email, email);
        assert.equal(kept.line_items[0].total, '12.00');
      },
      { allowed: [/400/] },
    ));
});
