// Every view, on a desk, in the dark and on a phone: it loads, nothing is wrong for people who use a
// keyboard or a screen reader, and nothing is wider than the screen.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faultsOf, open, walk } from '../support.mjs';

const REPORTS = ['revenue', 'orders', 'products', 'variations', 'categories', 'coupons', 'taxes', 'stock', 'downloads', 'customers'];
const VIEWS = [
  '/analytics', ...REPORTS.map((report) => `/analytics/${report}`), '/store/orders', '/store/products', '/store/coupons', '/store/coupons/new',
  '/store/setup', '/store/plugins', '/store/themes', '/store/inbox', '/store/settings', '/merchants', '/merchants/new', '/merchants/bulk', '/console/isos', '/console/keys', '/console/templates',
  '/console/templates/new', '/console/templates/RESTAURANT01', '/console/webhooks', '/console/events', '/console/audit', '/account',
  '/reference', '/nowhere',
];
/** Lists whose first entry is a view, too. */
const DETAILS = ['/store/orders', '/store/products', '/store/coupons', '/merchants'];

describe('every view', () => {
  for (const [name, options] of [
    ['on a desk', {}],
    ['in the dark', { colorScheme: 'dark' }],
    ['on a phone', { viewport: { width: 390, height: 844 } }],
  ]) {
    test(`${name} loads, is fit for everybody, and fits the screen`, () =>
      walk(async (page) => {
        const faults = [];
        const look = async (view) => {
          await open(page, view);
          if (await page.getByText('This could not be loaded').count()) faults.push(`${view} could not be loaded`);
          for (const fault of await faultsOf(page)) faults.push(`${view}: ${fault}`);
        };
        for (const view of VIEWS) {
          await look(view);
          if (!DETAILS.includes(view)) continue;
          const detail = await page.locator('main tbody a').first().getAttribute('href');
          await look(detail.replace('/portal', ''));
        }
        assert.deepEqual(faults, []);
      }, { options }));
  }
});
