// The store: coupons, orders and refunds.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, open, save, settled, walk, world } from '../support.mjs';

/** A note with an action, as an import brings it. */
function bundle(query) {
  const note = {
    note_id: '901',
    name: 'walk',
    type: 'info',
    locale: 'en_US',
    title: 'Come and read',
    content: 'There is much to know.',
    content_data: '{}',
    status: 'unactioned',
    source: 'walk',
    date_created: '2026-01-02 03:04:05',
    date_reminder: null,
    is_snoozable: '0',
    layout: '',
    image: '',
    is_deleted: '0',
    is_read: '0',
  };
  const action = {
    action_id: '902',
    note_id: '901',
    name: 'read',
    label: 'Read the guides',
    query,
    status: 'actioned',
    actioned_text: '',
    nonce_action: '',
    nonce_name: '',
  };
  return { admin_notes: [note], admin_note_actions: [action] };
}

describe('the store', () => {
  test('a coupon is made, refused when its code is taken, changed, and deleted after a question', () =>
    walk(
      async (page) => {
        for (const isSecond of [false, true]) {
          await open(page, '/store/coupons/new');
          await page.fill('#code', 'portal-test');
          await page.fill('#amount', '10');
          await page.getByRole('button', { name: 'Save' }).click();
          if (isSecond) await page.getByRole('alert').waitFor();
          else await page.waitForURL(/coupons\/\d+/);
        }
        await open(page, '/store/coupons?search=portal-test');
        await page.getByRole('link', { name: 'portal-test' }).click();
        await page.fill('#amount', '12.5');
        await page.fill('#usage_limit', '3');
        await save(page);
        await open(page, '/store/coupons?search=portal-test');
        assert.match(
          await page.getByRole('row', { name: /portal-test/ }).textContent(),
          /12\.5%.*0 \/ 3/s,
        );
        await page.getByRole('link', { name: 'portal-test' }).click();
        await page.getByRole('button', { name: 'Delete' }).click();
        await page.getByText('Orders that used it keep their discount').waitFor();
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
        await page.waitForURL(/store\/coupons$/);
        await open(page, '/store/coupons?search=portal-test');
        await page.getByText('No results').waitFor();
      },
      { allowed: [/400/] },
    ));

  test('an invalid coupon shows errors beside its fields, and is not sent', () =>
    walk(async (page) => {
      const code = `rules-${Date.now()}`;
      const sent = [];
      page.on(
        'request',
        (request) =>
          request.method() === 'POST' &&
          request.url().includes('/coupons') &&
          sent.push(request.url()),
      );
      await open(page, '/store/coupons/new');
      const save = () => page.getByRole('button', { name: 'Save' }).click();
      const errorAt = (name) => page.locator(`[id="${name}-hint"] .error`);
      await save();
      await errorAt('code').getByText('Required').waitFor();
      await errorAt('amount').getByText('Required').waitFor();
      await isFitForEverybody(page, 'errors of a coupon');
      await page.fill('#code', code);
      await page.fill('#amount', 'abc');
      await errorAt('amount').getByText('Enter a number').waitFor();
      await page.fill('#amount', '120');
      await errorAt('amount').getByText('Must be 100 or less').waitFor();
      await save();
      assert.deepEqual(sent, []);
      assert.equal(await page.getAttribute('#date_expires', 'type'), 'date');
      await page.fill('#amount', '15');
      await page.fill('#date_expires', '2031-12-31');
      await save();
      await page.waitForURL(/coupons\/\d+/);
      await settled(page);
      assert.equal(await page.inputValue('#date_expires'), '2031-12-31');
      const [made] = await call('GET', `wc/v3/coupons?code=${code}`);
      assert.deepEqual([made.amount, made.date_expires], ['15.00', '2031-12-31T00:00:00']);
      await call('DELETE', `wc/v3/coupons/${made.id}?force=true`);
    }));

  test('an order gets a note and another status', () =>
    walk(async (page) => {
      await open(page, '/store/orders?status=processing');
      await page.locator('tbody a').first().click();
      await page.getByLabel('Add a note').fill('Called about the parcel');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.notes').getByText('Called about the parcel').waitFor();
      await page.getByLabel('Change status').selectOption('completed');
      await page.locator('h1').getByText('completed').waitFor();
    }));

  test('a product and a setting are changed', () =>
    walk(async (page) => {
      await open(page, '/store/products?search=mug');
      await page.locator('tbody a').first().click();
      await page.locator('#regular_price').fill('15.50');
      await save(page);
      await open(page, '/store/settings/general');
      await page.locator('#woocommerce_store_city').fill('Ocean City');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('1 setting saved').waitFor();
      await page.reload();
      await settled(page);
      assert.equal(await page.locator('#woocommerce_store_city').inputValue(), 'Ocean City');
    }));

  test('a product is made, and an order for it taken by telephone', () =>
    walk(async (page) => {
      const name = `Lantern ${Date.now().toString(36)}`;
      await open(page, '/store/products');
      await page.getByRole('link', { name: 'New product' }).click();
      await settled(page);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Check: Name').waitFor();
      await isFitForEverybody(page, 'errors of a product');
      await page.fill('#name', name);
      await page.fill('#regular_price', '24.50');
      await page.getByLabel('Track inventory').check();
      await page.fill('#stock_quantity', '5');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.waitForURL(/products\/\d+/);
      await page.getByRole('heading', { name }).waitFor();
      await open(page, '/store/orders/new');
      assert.equal(await page.getByRole('button', { name: 'Create order' }).isDisabled(), true);
      await page.getByLabel('Search by name').fill(name);
      const add = page.getByRole('button', { name: `Add ${name}` });
      await add.click();
      await page.getByLabel(`Quantity of ${name}`).fill('2');
      const sum = (of) => page.locator('.sums').getByText(of, { exact: true }).first();
      await sum('$49.00').waitFor();
      await page.getByLabel('First name').fill('Ada');
      await page.getByLabel('E-mail').fill('not-mail');
      await page.getByRole('button', { name: 'Create order' }).click();
      await page.getByText('Check: E-mail').waitFor();
      await settled(page);
      await isFitForEverybody(page, 'a new order');
      await page.getByLabel('E-mail').fill(`ada.${Date.now()}@example.org`);
      await page.getByLabel('Country').selectOption('US');
      await page.getByLabel('State').selectOption('NY');
      await page.getByLabel('Postcode').fill('11226');
      await page.getByLabel('Create an account').check();
      await page.getByLabel('Coupon code').fill('no-such-code');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByText('no-such-code: There is no such coupon.').waitFor();
      await page.getByRole('button', { name: 'Remove no-such-code' }).click();
      await page.getByLabel('Coupon code').fill('welcome10');
      await page.getByRole('button', { name: 'Apply' }).click();
      await sum('−$4.90').waitFor();
      await page
        .getByLabel('Shipping', { exact: true })
        .selectOption({ label: 'Standard parcel · $5.95' });
      await settled(page);
      const total = await page.locator('.sums dd').last().textContent();
      await page.getByRole('button', { name: 'Create order' }).click();
      await page.waitForURL(/orders\/\d+/);
      await page.getByRole('link', { name }).waitFor();
      const [product] = await call('GET', `wc/v3/products?search=${encodeURIComponent(name)}`);
      const order = await call('GET', `wc/v3/orders/${page.url().split('/').pop()}`);
      assert.deepEqual(
        [order.status, order.line_items[0].quantity, order.coupon_lines[0].code],
        ['pending', 2, 'welcome10'],
      );
      assert.equal(total.trim(), `$${order.total}`);
      assert.equal(order.shipping_lines[0].method_title, 'Standard parcel');
      const buyer = await call('GET', `wc/v3/customers/${order.customer_id}`);
      assert.equal(buyer.billing.state, 'NY');
      assert.equal(product.stock_quantity, 5);
    }));

  test('a known customer buys a variation, and more than there is cannot be sold', () =>
    walk(async (page) => {
      const [customer] = await call('GET', 'wc/v3/customers?per_page=1');
      const [product] = await call('GET', 'wc/v3/products?type=variable&per_page=1');
      await open(page, '/store/orders/new');
      await page.getByLabel('Search by name').fill(product.name);
      const add = page.getByRole('button', { name: `Add ${product.name} –` }).first();
      await add.click();
      await page.getByLabel(`Quantity of ${product.name}`).fill('99999');
      await page.getByText(/There are only \d+ left/).waitFor();
      assert.ok(await page.getByRole('button', { name: 'Create order' }).isDisabled());
      await page.getByLabel(`Quantity of ${product.name}`).fill('1');
      await page.getByRole('combobox', { name: 'Find a customer' }).fill(customer.email);
      await page.getByRole('option', { name: customer.email }).click();
      await page.getByRole('button', { name: 'Choose another' }).waitFor();
      assert.equal(await page.getByLabel('City').inputValue(), customer.billing.city);
      await settled(page);
      await isFitForEverybody(page, 'an order of a known customer');
      await page.getByRole('button', { name: 'Create order' }).click();
      await page.waitForURL(/orders\/\d+/);
      const order = await call('GET', `wc/v3/orders/${page.url().split('/').pop()}`);
      assert.equal(order.customer_id, customer.id);
      assert.ok(order.line_items[0].variation_id > 0);
    }));

  test('tasks of the setup lead to their pages', () =>
    walk(async (page) => {
      await open(page, '/store/setup');
      await page
        .getByText(/\d of \d done/)
        .first()
        .waitFor();
      await page.getByRole('link', { name: 'Begin' }).first().click();
      await page.waitForURL(/\/portal\/store\//);
    }));

  test('notes are read, acted on and dismissed', () =>
    walk(async (page) => {
      // An active plugin tells that it is ready.
      await call('POST', 'wc-admin/plugins/install', { plugins: 'ledger' });
      await call('POST', 'wc-admin/plugins/activate', { plugins: 'ledger' });
      await open(page, '/store/inbox');
      const note = page.locator('li', {
        has: page.getByRole('heading', { name: 'Ledger is ready' }),
      });
      await isFitForEverybody(page, 'the inbox');
      await note.getByRole('button', { name: 'Mark as read' }).click();
      await note.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
      await note.getByRole('button', { name: 'Dismiss' }).click();
      await note.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Undo' }).click();
      await note.waitFor();
      // Notes of another shop keep their actions; following one leads to its page.
      await world.server.run(
        ['import', 'bundle'],
        JSON.stringify(bundle(`${world.server.url}/docs`)),
      );
      await open(page, '/store/inbox');
      await page.getByRole('button', { name: 'Read the guides' }).click();
      await page.waitForURL(/\/docs/);
      await call('POST', 'boardwalk/v1/plugins/ledger/deactivate', {});
      await call('DELETE', 'boardwalk/v1/plugins/ledger');
    }));

  test('items are refunded with tax and shipping, restocked, marked, and the customer is told', () =>
    walk(async (page) => {
      const orders = await call('GET', 'wc/v3/orders?status=completed&per_page=100');
      const bought = orders.find(
        (order) =>
          order.line_items.some(
            (line) => line.quantity > 1 && !line.variation_id && Number(line.total_tax) > 0,
          ) &&
          Number(order.shipping_total) > 0 &&
          !order.refunds.length,
      );
      const line = bought.line_items.find(
        (one) => one.quantity > 1 && !one.variation_id && Number(one.total_tax) > 0,
      );
      const [parcel] = bought.shipping_lines;
      await open(page, `/store/orders/${bought.id}`);
      await page.getByRole('button', { name: 'Refund…' }).click();
      const dialog = page.getByRole('dialog');
      const units = dialog.getByLabel(`Quantity of ${line.name} to refund`);
      // More than was bought is not to be had.
      await units.fill(String(line.quantity + 5));
      assert.equal(await units.inputValue(), String(line.quantity));
      await units.fill('1');
      await dialog.getByLabel(`Amount of ${parcel.method_title}`).fill(parcel.total);
      await dialog.getByLabel('Note to the customer').fill('We are sorry about the chip.');
      await dialog.getByText(/This records a refund of/).waitFor();
      await isFitForEverybody(page, 'a refund');
      await dialog.getByRole('button', { name: /^Refund / }).click();
      await dialog.waitFor({ state: 'detached' });
      await settled(page);
      await page.getByText('1 refunded').waitFor();
      await page.getByRole('cell', { name: 'Net total' }).waitFor();
      await page.locator('.notes').getByText('We are sorry about the chip.').waitFor();
      await isFitForEverybody(page, 'a refunded order');
      const [refund] = await call('GET', `wc/v3/orders/${bought.id}/refunds`);
      const cents = (text) => Math.round(Number(text) * 100);
      const unit = Math.round(cents(line.total) / line.quantity);
      const [back] = refund.line_items;
      assert.deepEqual([back.quantity, -cents(back.total)], [-1, unit]);
      assert.ok(cents(back.total_tax) < 0, 'its tax is given back');
      assert.equal(
        cents(refund.amount),
        unit + cents(parcel.total) - cents(back.total_tax) + cents(parcel.total_tax),
      );
      const notes = await call('GET', `wc/v3/orders/${bought.id}/notes`);
      assert.ok(notes.some((note) => note.customer_note && note.note.includes('the chip')));
      // What was given back cannot be given back again.
      await page.getByRole('button', { name: 'Refund…' }).click();
      await units.fill(String(line.quantity));
      assert.equal(await units.inputValue(), String(line.quantity - 1));
      assert.ok(await dialog.getByLabel(`Amount of ${parcel.method_title}`).isDisabled());
    }));

  test('a refund of more than is left is refused', () =>
    walk(
      async (page) => {
        await open(page, '/store/orders?status=completed');
        await page.locator('tbody a[href*="/orders/"]').nth(1).click();
        await page.getByRole('button', { name: 'Refund…' }).click();
        await page.getByLabel('Custom amount').fill('999999');
        await page.getByRole('button', { name: /^Refund / }).click();
        await page.getByRole('alert').waitFor();
      },
      { allowed: [/400/] },
    ));

  test('an order is refunded in part', () =>
    walk(async (page) => {
      await open(page, '/store/orders?status=completed');
      await page.locator('tbody a').first().click();
      await page.getByRole('button', { name: 'Refund…' }).click();
      await page.getByLabel('Custom amount').fill('1');
      await page.getByRole('button', { name: /^Refund / }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByText('Refunded').first().waitFor();
    }));
});
