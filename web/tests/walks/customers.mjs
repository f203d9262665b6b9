// Customers: from wherever their name stands to their page, and what can be done there.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, open, save, settled, walk } from '../support.mjs';

describe('customers', () => {
  test('an order, a report and the overview lead to the page of its customer', () =>
    walk(async (page) => {
      const [top] = await call(
        'GET',
        'wc-analytics/reports/customers?per_page=1&orderby=total_spend',
      );
      await open(page, '/store/customers');
      await page.getByRole('link', { name: top.name }).first().click();
      await page.getByRole('heading', { level: 1, name: top.name }).waitFor();
      await settled(page);
      await page.getByText('Total spend').waitFor();
      await page.getByRole('link', { name: /^All \d+ orders$/ }).waitFor();
      await isFitForEverybody(page, 'a customer');
      await page.locator('main tbody a').first().click();
      await page.waitForURL(/orders\/\d+/);
      await page.getByRole('main').getByRole('link', { name: top.name }).click();
      await page.waitForURL(new RegExp(`customers/${top.user_id}$`));
      for (const path of ['/analytics/customers', '/analytics?period=year']) {
        await open(page, path);
        await page.getByRole('main').getByRole('link', { name: top.name }).click();
        await page.getByRole('heading', { level: 1, name: top.name }).waitFor();
      }
    }));

  test('a guest is found by e-mail address', () =>
    walk(async (page) => {
      const [guest] = await call(
        'GET',
        'wc-analytics/reports/customers?user_type=guest&per_page=1&orderby=orders_count',
      );
      await open(page, `/store/customers?search=${encodeURIComponent(guest.email)}`);
      await page.getByRole('link', { name: guest.name }).click();
      await page.getByText('Guest', { exact: true }).waitFor();
      await settled(page);
      await page.getByText('once the customer has an account').waitFor();
      await page
        .getByRole('link', { name: /^#\d+$/ })
        .first()
        .waitFor();
    }));

  test('addresses and notes of a customer are changed', () =>
    walk(async (page) => {
      const name = `Quay ${Date.now().toString(36)}`;
      const { id } = await call('POST', 'wc/v3/customers', {
        email: `quay.${Date.now()}@example.org`,
        first_name: 'Ada',
        last_name: name,
      });
      await open(page, `/store/customers/${id}`);
      await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('City').fill('Ocean City');
      await isFitForEverybody(page, 'an address');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('Ocean City').waitFor();
      await page.getByLabel('Add a note about this customer').fill('Prefers parcels on Fridays');
      await save(page);
      await page.getByRole('listitem').getByText('Prefers parcels on Fridays').waitFor();
      const stored = await call('GET', `wc/v3/customers/${id}`);
      assert.equal(stored.billing.city, 'Ocean City');
      await page.reload();
      await settled(page);
      await page.getByText('Prefers parcels on Fridays').waitFor();
      await page.getByRole('main').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No notes yet').waitFor();
    }));
});
