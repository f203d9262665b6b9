// Settings that are more than a form: how customers pay, taxes, shipping, e-mails, and whether the store is
// open; and the tasks that lead there.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { becomes, call, isFitForEverybody, open, walk } from '../support.mjs';

const fresh = (word) => `${word} ${Date.now().toString(36)}`;
const dialog = (page) => page.getByRole('dialog');

describe('settings', () => {
  test('a payment method is offered, set up and moved', () =>
    walk(async (page) => {
      const cheque = () => call('GET', 'wc/v3/payment_gateways/cheque');
      await call('PUT', 'wc/v3/payment_gateways/cheque', { enabled: false });
      await open(page, '/store/settings/checkout');
      await page.getByLabel('Offer Cheque').check();
      await page.getByText('Cheque is offered at checkout').waitFor();
      await page.getByRole('button', { name: 'Set up Cheque' }).click();
      const title = fresh('Pay by cheque');
      await dialog(page).getByLabel('Title').fill(title);
      await isFitForEverybody(page, 'a payment method');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await page.getByRole('cell', { name: title }).waitFor();
      const first = page.locator('tbody tr').first();
      for (let steps = 0; steps < 10; steps++) {
        if (/Cheque/.test(await first.textContent())) break;
        await page.getByRole('button', { name: 'Move Cheque up' }).click();
        await page.getByText('Order saved').first().waitFor();
        await page.waitForTimeout(300);
      }
      await isFitForEverybody(page, 'payment methods');
      const [made, all] = [await cheque(), await call('GET', 'wc/v3/payment_gateways')];
      assert.deepEqual([made.enabled, made.title], [true, title]);
      assert.ok(all.every((one) => one.id === 'cheque' || Number(one.order) > Number(made.order)));
      await call('PUT', 'wc/v3/payment_gateways/cheque', { enabled: false });
    }));

  test('a hosted gateway is added with a secret that is shown once, and removed', () =>
    walk(async (page) => {
      const id = `walk${Date.now().toString(36)}`;
      await open(page, '/store/settings/checkout');
      await page.getByRole('button', { name: 'Add a hosted gateway' }).click();
      await dialog(page).getByLabel('Provider').fill('Harbour Pay');
      await dialog(page).getByLabel('Shown to customers as').fill('Card');
      await page.fill('#asked-id', id);
      await dialog(page).getByLabel('URL').fill('https://pay.example.com/boardwalk');
      assert.equal(
        await dialog(page).getByLabel('Signing secret').first().getAttribute('type'),
        'password',
      );
      await dialog(page).getByRole('button', { name: 'Add a hosted gateway' }).click();
      await page.getByText(/whsec_/).waitFor();
      await isFitForEverybody(page, 'a new gateway');
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Remove Harbour Pay' }).first().click();
      await dialog(page).getByRole('button', { name: 'Remove' }).click();
      await page.getByText('Harbour Pay removed').waitFor();
      const left = await call('GET', 'boardwalk/v1/payment-gateways');
      assert.ok(!left.some((one) => one.id === `hosted-${id}`));
    }));

  test('a tax rate is added, changed and deleted', () =>
    walk(async (page) => {
      const name = fresh('Pier tax');
      const found = async () =>
        (await call('GET', 'wc/v3/taxes?per_page=100')).find((one) => one.name === name);
      await open(page, '/store/settings/tax');
      await page.getByRole('button', { name: 'Add a tax rate' }).click();
      await dialog(page).getByLabel('Name').fill(name);
      await dialog(page).getByLabel('Rate in percent').fill('3.5');
      await dialog(page).getByLabel('Country').selectOption('GL');
      await isFitForEverybody(page, 'a tax rate');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await dialog(page).waitFor({ state: 'detached' });
      assert.deepEqual(
        [(await found()).rate, (await found()).country, (await found()).shipping],
        ['3.5000', 'GL', true],
      );
      // New rates are listed last.
      const last = page.getByRole('button', { name: 'Next →' });
      while ((await last.count()) && (await last.isEnabled())) {
        await last.click();
        await page.waitForTimeout(300);
      }
      await page.getByRole('button', { name: `Edit ${name} GL` }).click();
      await dialog(page).getByLabel('Rate in percent').fill('4');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await dialog(page).waitFor({ state: 'detached' });
      assert.equal((await found()).rate, '4.0000');
      await isFitForEverybody(page, 'tax rates');
      await page.getByRole('button', { name: `Delete ${name} GL` }).click();
      await dialog(page).getByRole('button', { name: 'Delete' }).click();
      await page.getByText('Tax rate deleted').waitFor();
      assert.equal(await found(), undefined);
    }));

  test('a shipping zone gets a country, a method with its cost, and is deleted', () =>
    walk(async (page) => {
      const name = fresh('Islands');
      await open(page, '/store/settings/shipping');
      await page.getByRole('button', { name: 'Add a zone' }).click();
      await dialog(page).getByLabel('Zone name').fill(name);
      await dialog(page).getByText('None selected').click();
      await dialog(page).getByLabel('Search').fill('faroe');
      await dialog(page).getByLabel('Faroe Islands').check();
      await isFitForEverybody(page, 'a shipping zone');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      const zone = page.getByRole('group', { name });
      await zone.getByText('Faroe Islands').waitFor();
      await zone.getByRole('button', { name: /Add a method/ }).click();
      await dialog(page).getByRole('button', { name: 'Add a method' }).click();
      await dialog(page).getByLabel('Cost').fill('9.50');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await zone.getByRole('cell', { name: '9.50' }).waitFor();
      await isFitForEverybody(page, 'shipping zones');
      const made = (await call('GET', 'wc/v3/shipping/zones')).find((one) => one.name === name);
      const [method] = await call('GET', `wc/v3/shipping/zones/${made.id}/methods`);
      assert.deepEqual([method.method_id, method.settings.cost.value], ['flat_rate', '9.50']);
      await zone.getByRole('button', { name: 'Delete zone' }).click();
      await dialog(page).getByRole('button', { name: 'Delete zone' }).click();
      await page.getByText(`${name} deleted`).waitFor();
    }));

  test('an e-mail is switched off and on, and the way to its settings is there', () =>
    walk(async (page) => {
      const value = async () =>
        (await call('GET', 'wc/v3/settings/email_customer_note/enabled')).value;
      await open(page, '/store/settings/email');
      const tick = page.getByLabel('Send Customer note');
      await tick.uncheck();
      await becomes(value, 'no');
      await tick.check();
      await becomes(value, 'yes');
      await isFitForEverybody(page, 'e-mails of the store');
      await page.getByRole('link', { name: 'Edit Customer note' }).click();
      await page.waitForURL(/settings\/email_customer_note/);
      await page.getByLabel('Subject').waitFor();
    }));

  test('the store is hidden and launched', () =>
    walk(async (page) => {
      await open(page, '/store/settings/general');
      await page.getByRole('button', { name: 'Hide the store' }).click();
      await dialog(page).getByRole('button', { name: 'Hide the store' }).click();
      await page.getByRole('button', { name: 'Launch the store' }).click();
      await page.getByText('The store is live', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Hide the store' }).waitFor();
    }));

  test('tasks lead to pages where they can be done', () =>
    walk(async (page) => {
      for (const [task, part] of [
        ['payments', 'Payment methods'],
        ['tax', 'Tax rates'],
        ['shipping', 'Shipping zones'],
        ['launch-your-store', 'Store visibility'],
      ]) {
        // Tasks that are done have no button: where one would lead is asked of an open one.
        await page.route('**/wc-admin/onboarding/tasks*', async (route) => {
          const answer = await route.fetch();
          const lists = await answer.json();
          for (const list of lists) for (const one of list.tasks) one.isComplete = one.id !== task;
          await route.fulfill({ response: answer, json: lists });
        });
        await open(page, '/store/setup');
        await page.locator('li:not(.done) a.button').first().click();
        await page.getByRole('region', { name: part }).waitFor();
        await page.unroute('**/wc-admin/onboarding/tasks*');
      }
    }));
});
