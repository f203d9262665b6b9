// A new version of a template on its way to terminals: chosen, followed, stopped.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFitForEverybody, open, settled, walk, world } from '../support.mjs';

async function ask(method, path, body) {
  const answer = await fetch(`${world.server.url}/v1/${path}`, {
    method,
    headers: {
      authorization: `Api-Key ${world.server.api_key}`,
      'content-type': 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${method} ${path}: ${text}`);
  return JSON.parse(text);
}

/** A merchant with a terminal that has the template. */
async function onboard(dba, template) {
  const person = {
    dba,
    firstName: 'Ada',
    email: 'ada@example.org',
    addressLine1: '1 Main Street',
    zipCode: '94103',
    phoneNumber: '4155550100',
    ISDcode: '+1',
  };
  const tpnData = {
    deviceManufacturer: 'Kozen',
    deviceModel: 'P3',
    tpnApplicationSign: 'CRDT',
    tpnAssignTemplate: template,
    tpnProcessor: {
      processorName: 'CKNX',
      profile: [{ profileId: '01', apiKey: `walk-${dba}` }],
    },
  };
  const storeData = { ...person, mccCode: '5812' };
  const made = await ask('POST', 'onboardmerchant', { merchantData: person, storeData, tpnData });
  return made.data.tpn;
}

describe('roll-outs', () => {
  test('a version is rolled out to chosen terminals, followed, and stopped', () =>
    walk(async (page) => {
      const run = Date.now().toString(36);
      const name = `ROLL${run}`.toUpperCase();
      await ask('POST', 'templates', { name, parameters: {} });
      const tpns = [];
      for (const one of ['One', 'Two', 'Three'])
        tpns.push(await onboard(`Pier ${one} ${run}`, name));
      const { code } = await ask('POST', `tpns/${tpns[0]}/pairing-code`, {});
      await ask('POST', `sandbox/devices/${code}/pair`, {});
      await ask('POST', `sandbox/devices/${code}/download`, {});
      const versions = async () =>
        Promise.all(tpns.map(async (tpn) => (await ask('GET', `tpns/${tpn}`)).templateVersion));

      await open(page, `/console/templates/${name}`);
      await page.getByRole('heading', { name: 'Used by 3 terminals' }).waitFor();
      await page.getByRole('checkbox', { name: 'Tip enabled' }).check();
      await page.getByRole('button', { name: 'Save as new version' }).click();
      await page.getByText('Changes since').waitFor();
      assert.deepEqual(await versions(), [1, 1, 1], 'a new version alone changes no terminal');

      await page.getByRole('button', { name: 'Roll out', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('All that have another version (3)').waitFor();
      await dialog.getByLabel('Some terminals').check();
      await dialog.getByRole('checkbox', { name: tpns[0] }).check();
      await dialog.getByRole('checkbox', { name: tpns[1] }).check();
      await dialog.getByText('2 selected').waitFor();
      await isFitForEverybody(page, 'the choice of terminals');
      await dialog.getByRole('button', { name: 'Roll out' }).click();
      await page.getByText('0 downloaded, 2 pending').first().waitFor();
      assert.deepEqual(await versions(), [2, 2, 1]);
      const row = (tpn) => page.getByRole('row', { name: new RegExp(tpn) });
      await row(tpns[1]).getByText('No device').waitFor();

      await ask('POST', `sandbox/devices/${code}/download`, {});
      await row(tpns[0]).getByText('downloaded').waitFor();
      await page.getByText('1 downloaded, 1 pending').first().waitFor();
      await isFitForEverybody(page, 'a roll-out');
      await page.getByRole('button', { name: 'Stop roll-out' }).click();
      await dialog.getByText('1 pending terminal goes back').waitFor();
      await dialog.getByLabel('Reason').fill('The tips confuse people');
      await dialog.getByRole('button', { name: 'Stop roll-out' }).click();
      await row(tpns[1]).getByText('stopped').waitFor();
      await page.getByText('1 kept the old version').first().waitFor();
      await page.getByText('Reason: The tips confuse people').waitFor();
      assert.deepEqual(await versions(), [2, 1, 1]);
      await page.getByText('1 with version 2, 2 with version 1').waitFor();

      await page.getByRole('button', { name: 'Roll out', exact: true }).click();
      await dialog.getByLabel('Terminals of some stores').check();
      await dialog.getByRole('checkbox', { name: new RegExp(`Pier Three ${run}`) }).check();
      await dialog.getByRole('button', { name: 'Roll out' }).click();
      await page.getByText('0 downloaded, 1 pending').first().waitFor();
      await page.getByRole('button', { name: 'Roll out', exact: true }).click();
      await dialog.getByRole('button', { name: 'Roll out' }).click();
      await page.getByText('3 with version 2').waitFor();
      await settled(page);
      assert.deepEqual(await versions(), [2, 2, 2]);
    }));
});
