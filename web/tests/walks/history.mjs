// The audit of one merchant: from its page, in words, with names, old and new values, and all its parts.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, onboarding, open, settled, walk } from '../support.mjs';

/** A merchant whose parts were all changed by the demo's key. */
async function changed() {
  const name = `History ${Date.now().toString(36)}`;
  const address = {
    firstName: 'Ada',
    email: 'before@pier.example',
    addressLine1: '1 Pier Road',
    zipCode: '08401',
    phoneNumber: '6095550100',
    ISDcode: '+1',
  };
  const { data } = await onboarding('POST', 'onboardmerchant', {
    merchantData: { dba: name, ...address },
    storeData: { dba: `${name} A`, mccCode: '5812', ...address },
    tpnData: {
      deviceManufacturer: 'Kozen',
      deviceModel: 'P3',
      tpnApplicationSign: 'CRDT',
      tpnRoutingType: 'SIMPLE',
      tpnProcessor: {
        processorName: 'CKNX',
        profile: [{ profileId: '01', apiKey: `history-${name}` }],
      },
    },
  });
  const version = { expectedVersion: 1 };
  const store = { metadata: { floor: '2' }, ...version };
  await onboarding('PATCH', `stores/${data.storeId}`, store);
  await onboarding('POST', `tpns/${data.tpn}/deactivate`, { reason: 'Screen broken' });
  return { ...data, name };
}

describe('the history of a merchant', () => {
  test('says who changed what, from what to what, in all its parts', () =>
    walk(async (page) => {
      const { merchantId, tpn, name } = await changed();
      await open(page, `/merchants/${merchantId}`);
      await page.getByRole('button', { name: 'Edit' }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('E-mail').fill('after@pier.example');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      const change = 'E-mail: before@pier.example → after@pier.example';
      await page.getByText(change).waitFor();
      await isFitForEverybody(page, 'a merchant with a history');
      await page.getByRole('link', { name: 'Full history' }).click();
      await page.getByRole('heading', { name: `History of ${name}` }).waitFor();
      await settled(page);
      const rows = page.locator('main tbody tr');
      const texts = (await rows.allTextContents()).map((text) => text.replace(/\s+/g, ' '));
      assert.equal(texts.length, 4);
      const me = await call('GET', 'wp/v2/users/me');
      for (const [place, words] of [
        [0, ['Merchant changed', change, me.name]],
        [1, ['TPN deactivated', `TPN ${tpn}`, 'provisioned → inactive', 'Reason: Screen broken']],
        [2, ['Store changed', 'Floor 2', 'API key']],
        [3, ['Merchant onboarded']],
      ])
        for (const word of words)
          assert.ok(texts[place].includes(word), `${word} is not in: ${texts[place]}`);
      await isFitForEverybody(page, 'the history of a merchant');
      const search = page.getByLabel('Search people, actions, IDs and fields');
      await search.pressSequentially('deactiv');
      await page.waitForURL(/search=deactiv/);
      await settled(page);
      assert.equal(await rows.count(), 1);
      for (const words of ['E-mail', 'merchant changed']) {
        await search.fill(words);
        await page.waitForURL((url) => url.searchParams.get('search') === words);
        await page.getByText(change).waitFor();
        await settled(page);
        assert.equal(await rows.count(), 1, words);
      }
      await search.fill('nothing like that');
      await page.getByText('No results').waitFor();
      await search.fill('');
      await page.getByRole('button', { name: 'Filters' }).click();
      await page.getByLabel('From').fill('2000-01-01');
      await page.getByLabel('Until').fill('2000-01-02');
      await page.getByText('No results').waitFor();
      await page.getByRole('link', { name: `← ${name}` }).click();
      await page.getByRole('heading', { name }).first().waitFor();
    }));
});
