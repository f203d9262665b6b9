// Merchants: onboarding one by one.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFitForEverybody, open, walk } from '../support.mjs';

describe('merchants', () => {
  test('the guided form tells each rule as one types, and finds the place', () =>
    walk(async (page) => {
      await open(page, '/merchants/new');
      const fill = (path, value) => page.fill(`[id="${path}"]`, value);
      await fill('merchantData.dba', 'x');
      await page.getByText('At least 2 characters').waitFor();
      await fill('merchantData.dba', 'Portal Test Diner');
      await fill('merchantData.firstName', 'Ada');
      await fill('merchantData.email', 'ada@example.org');
      await fill('merchantData.addressLine1', '1 Main Street');
      await fill('merchantData.zipCode', '94103');
      await page.getByText('San Francisco, CA').waitFor();
      await fill('merchantData.phoneNumber', '4155550100');
      await isFitForEverybody(page, 'the guided form');
      assert.match(await page.textContent('aside pre'), /Portal Test Diner/);
    }));
});
