// Merchants: onboarding one by one and from a file, what can be done with one, and how it was.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { isFitForEverybody, open, settled, walk, world } from '../support.mjs';

/** Names are unique among an ISO's merchants, and a run may follow another one. */
const RUN = String(Date.now() % 10_000_000);

/** A body of a full onboarding. */
function onboarding(dba, zipCode = '94103') {
  const person = {
    dba,
    firstName: 'Ada',
    email: 'ada@example.org',
    addressLine1: '1 Main Street',
    zipCode,
    phoneNumber: '4155550100',
    ISDcode: '+1',
  };
  const profile = { profileId: '01', apiKey: `walk-${dba}` };
  const tpnData = {
    deviceManufacturer: 'Kozen',
    deviceModel: 'P3',
    tpnApplicationSign: 'CRDT',
    tpnAssignTemplate: world.server.template,
    tpnProcessor: { processorName: 'CKNX', profile: [profile] },
  };
  return { merchantData: person, storeData: { ...person, mccCode: '5812' }, tpnData };
}

describe('merchants', () => {
  test('the guided form tells each rule as one types, finds the place, and onboards', () =>
    walk(async (page) => {
      await open(page, '/merchants/new');
      const fill = (path, value) => page.fill(`[id="${path}"]`, value);
      const name = `Portal Diner ${RUN}`;
      await fill('merchantData.dba', 'x');
      await page.getByText('At least 2 characters').waitFor();
      await fill('merchantData.dba', name);
      await fill('merchantData.firstName', 'Ada');
      await fill('merchantData.email', 'ada@example.org');
      await fill('merchantData.addressLine1', '1 Main Street');
      await fill('merchantData.zipCode', '94103');
      await page.getByText('San Francisco, CA').waitFor();
      await fill('merchantData.phoneNumber', '4155550100');
      await isFitForEverybody(page, 'the guided form');
      assert.match(await page.textContent('aside pre'), new RegExp(name));
      await fill('storeData.mccCode', '5812');
      await page.getByLabel('Processor').selectOption('CKNX');
      await page.getByLabel('Manufacturer').selectOption('Kozen');
      await page.getByLabel('Model').selectOption('P3');
      await page.getByLabel(/^Application/).selectOption('CRDT');
      await fill('tpnData.tpnProcessor.profile[0].apiKey', `walk-${RUN}`);
      await page.getByRole('button', { name: 'Validate' }).click();
      await page.getByText('Nothing was saved').waitFor();
      await page.getByRole('button', { name: 'Onboard', exact: true }).click();
      await page.waitForURL(/merchants\/[A-Z0-9]{6,}/);
      await page.getByRole('heading', { name }).first().waitFor();
      assert.equal(await page.getByText('Nothing was saved').count(), 0, 'it was saved');
    }));

  test('the models offered are those of the manufacturer', () =>
    walk(async (page) => {
      await open(page, '/merchants/new');
      const model = page.getByLabel('Model');
      const offered = () =>
        model.locator('option').evaluateAll((all) => all.map((one) => one.value).filter(Boolean));
      await page.getByLabel('Manufacturer').selectOption('Kozen');
      await model.selectOption('P3');
      assert.deepEqual(await offered(), ['P1', 'P3', 'P5', 'P8', 'P12']);
      await page.getByLabel('Manufacturer').selectOption('WizardPOS');
      await page.waitForFunction(() => !document.querySelector('[id="tpnData.deviceModel"]').value);
      assert.deepEqual(await offered(), ['Q2', 'QD2', 'QD3', 'QD4', 'QD5', 'QD6']);
      await page.getByLabel('Manufacturer').selectOption('Apple');
      await page.waitForFunction(
        () => document.querySelector('[id="tpnData.deviceModel"]').value === 'Apple Pay',
      );
      assert.match(await page.textContent('aside pre'), /"deviceModel": "Apple Pay"/);
    }));

  test('a merchant is onboarded in ten actions', () =>
    walk(async (page) => {
      await open(page, '/merchants/new');
      const name = `Ten Steps ${Date.now().toString(36)}`;
      let actions = 0;
      const fill = async (path, value) => {
        actions++;
        await page.fill(`[id="${path}"]`, value);
      };
      await fill('merchantData.dba', name);
      await fill('merchantData.firstName', 'Ada');
      await fill('merchantData.email', 'ada@example.org');
      await fill('merchantData.addressLine1', '1 Main Street');
      await fill('merchantData.zipCode', '94103');
      await fill('merchantData.phoneNumber', '4155550100');
      await fill('find-category', 'restaurant');
      actions++;
      await page.getByRole('option', { name: /^5812/ }).click();
      // The newest terminal says device, application, template and processor.
      const key = page.locator('[id^="tpnData.tpnProcessor.profile[0]."][required]');
      for (const field of await key.all())
        if ((await field.inputValue()) === '')
          await fill(await field.getAttribute('id'), `ten${Date.now().toString(36)}`);
      await isFitForEverybody(page, 'the form of a merchant');
      actions++;
      await page.getByRole('button', { name: 'Onboard', exact: true }).click();
      await page.getByRole('heading', { name: 'Merchant onboarded' }).waitFor();
      await page.getByRole('heading', { name }).first().waitFor();
      await isFitForEverybody(page, 'a merchant that was just onboarded');
      assert.ok(actions <= 10, `${actions} actions`);
    }));

  test('a merchant is found as one types, suspended, and seen as it was', () =>
    walk(async (page) => {
      await open(page, '/merchants');
      await page.getByLabel('Name, e-mail, phone or ZIP').fill('Keeper');
      await page.waitForURL(/search=Keeper/);
      await settled(page);
      await page.getByRole('link', { name: 'Keeper Hardware' }).first().click();
      await page.getByRole('button', { name: 'Suspend' }).click();
      await page.getByText('cannot take payments until').waitFor();
      await page.getByRole('dialog').getByLabel('Reason').fill('Too many disputes');
      await isFitForEverybody(page, 'the question before a suspension');
      await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
      await page.locator('h1').getByText('suspended').waitFor();
      await page.getByText('Too many disputes').first().waitFor();
      await settled(page);
      await page
        .getByRole('row', { name: /Merchant onboarded/ })
        .getByRole('button', { name: 'View this version' })
        .click();
      await page.waitForURL(/asOf=/);
      await page.getByText('Past version').waitFor();
      await page.locator('h1').getByText('active').waitFor();
      await page.getByRole('button', { name: 'Back to current version' }).click();
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.locator('h1').getByText('active').waitFor();
      await settled(page);
      await isFitForEverybody(page, 'a merchant');
    }));

  test('a merchant is corrected, gets a pairing code, another store, and another terminal', () =>
    walk(
      async (page) => {
        const headers = {
          authorization: `Api-Key ${world.server.api_key}`,
          'content-type': 'application/json',
        };
        const name = `Edited ${RUN}`;
        const answer = await fetch(`${world.server.url}/v1/onboardmerchant`, {
          method: 'POST',
          headers,
          body: JSON.stringify(onboarding(name)),
        });
        const { merchantId } = (await answer.json()).data;
        const fill = (path, value) => page.fill(`[id="${path}"]`, value);
        await open(page, `/merchants/${merchantId}`);
        await page.getByRole('button', { name: 'Edit' }).first().click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('E-mail').fill('not-mail');
        await dialog.getByText('Enter an e-mail address, such as').waitFor();
        await dialog.getByLabel('E-mail').fill('ada@pier.example');
        await dialog.getByLabel('ZIP code').fill('00000');
        await dialog.getByRole('button', { name: 'Save' }).click();
        await dialog.getByText('not in use').waitFor();
        await isFitForEverybody(page, 'a merchant that is corrected');
        await dialog.getByLabel('ZIP code').fill('10001');
        await dialog.getByRole('button', { name: 'Save' }).click();
        await dialog.waitFor({ state: 'detached' });
        await page.getByText('ada@pier.example').first().waitFor();
        await page.getByText('New York, NY 10001').waitFor();
        await settled(page);
        await page.getByRole('button', { name: 'Pairing code' }).click();
        assert.match(await page.locator('.once code').textContent(), /^[0-9A-Z]{8}$/);
        const terminal = async (key) => {
          await page.getByLabel('Processor').selectOption('CKNX');
          await page.getByLabel('Manufacturer').selectOption('Kozen');
          await page.getByLabel('Model').selectOption('P3');
          await page.getByLabel(/^Application/).selectOption('CRDT');
          await fill('tpnData.tpnProcessor.profile[0].apiKey', key);
          await page.getByRole('button', { name: 'Onboard', exact: true }).click();
          await page.waitForURL(new RegExp(`merchants/${merchantId}$`));
          await settled(page);
        };
        await page.getByRole('link', { name: 'Add a store' }).click();
        for (const [field, value] of Object.entries({
          ...onboarding(`${name} B`).storeData,
          mccCode: '9999',
        }))
          await fill(`storeData.${field}`, value);
        await page.getByText('Unknown category code').waitFor();
        assert.equal(
          await page.getByRole('button', { name: 'Onboard', exact: true }).isDisabled(),
          true,
        );
        await fill('storeData.mccCode', '5812');
        await terminal(`walk-b-${RUN}`);
        const store = page
          .locator('section.card')
          .filter({ has: page.getByRole('heading', { name: `${name} B` }) });
        await store.getByRole('link', { name: 'Add a terminal' }).click();
        await terminal(`walk-c-${RUN}`);
        await store.locator('tbody tr').nth(1).waitFor();
      },
      { allowed: [/40\d|422/] },
    ));

  test('the guided form says what is wrong, and why one cannot go on', () =>
    walk(
      async (page) => {
        await open(page, '/merchants/new');
        const fill = (path, value) => page.fill(`[id="merchantData.${path}"]`, value);
        const errorAt = (path) => page.locator(`[id="merchantData.${path}-hint"] .error`);
        await page.getByText(/Still required or incorrect: .*ZIP code/).waitFor();
        await fill('zipCode', '00000');
        await errorAt('zipCode').getByText('Unknown ZIP code').waitFor();
        await fill('email', 'not-mail');
        await errorAt('email').getByText('Enter an e-mail address').waitFor();
        await fill('phoneNumber', '(212) 555-0142');
        await errorAt('phoneNumber').getByText('Digits only').waitFor();
        await isFitForEverybody(page, 'errors of the guided form');
      },
      { allowed: [/404/] },
    ));

  test('the device of a TPN is swapped, and the code for the next one is shown once', () =>
    walk(async (page) => {
      await open(page, '/merchants?search=Saltwater');
      await page.getByRole('link', { name: 'Saltwater Books' }).click();
      const row = page
        .getByRole('row')
        .filter({ has: page.getByRole('button', { name: 'Swap device' }) })
        .first();
      await row.getByRole('button', { name: 'Swap device' }).click();
      await page.getByText('stops working now').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Swap device' }).click();
      await page.locator('.once code').waitFor();
      await isFitForEverybody(page, 'a pairing code');
    }));

  test('a file is previewed, and its rows with errors are fixed and sent again', () =>
    walk(async (page) => {
      await open(page, '/merchants/bulk');
      const rows = [onboarding(`File One ${RUN}`), onboarding(`File Two ${RUN}`, '00000')];
      await page.setInputFiles('input[type=file]', {
        name: 'rows.jsonl',
        mimeType: 'application/x-ndjson',
        buffer: Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')),
      });
      await page.getByText('2 rows.').waitFor();
      await page
        .getByRole('cell', { name: `File One ${RUN}` })
        .first()
        .waitFor();
      await isFitForEverybody(page, 'the preview of a file');
      await page.getByRole('button', { name: 'Onboard all 2 rows' }).click();
      await page.getByText('1 onboarded, 1 failed, 2 in total').waitFor();
      await isFitForEverybody(page, 'refused rows');
      for (const cell of await page.getByLabel('ZIP code of row 2').all()) await cell.fill('94103');
      await page.getByRole('button', { name: 'Send the fixed row' }).click();
      await page.getByText('1 onboarded, 0 failed, 1 in total').waitFor();
    }));

  test('rows that are fixed after a validation are validated again, and not saved', () =>
    walk(async (page) => {
      await open(page, '/merchants/bulk');
      const rows = [onboarding(`Trial One ${RUN}`), onboarding(`Trial Two ${RUN}`, '00000')];
      await page.setInputFiles('input[type=file]', {
        name: 'rows.jsonl',
        mimeType: 'application/x-ndjson',
        buffer: Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')),
      });
      await page.getByRole('button', { name: 'Check all 2 rows' }).click();
      await page.getByText('1 valid, 1 with errors, nothing saved').waitFor();
      await isFitForEverybody(page, 'validated rows');
      for (const cell of await page.getByLabel('ZIP code of row 2').all()) await cell.fill('94103');
      await page.getByRole('button', { name: 'Check the fixed row' }).click();
      await page.getByText('2 rows valid, nothing saved').waitFor();
      const headers = { authorization: `Api-Key ${world.server.api_key}` };
      const saved = async () => {
        const list = await fetch(`${world.server.url}/v1/merchants?limit=10`, { headers });
        const names = (await list.json()).data.map((one) => one.dba);
        return names.filter((name) => name.startsWith('Trial') && name.endsWith(RUN)).length;
      };
      assert.equal(await saved(), 0);
      await page.getByRole('button', { name: 'Onboard all 2 rows' }).click();
      await page.getByText('2 onboarded, 0 failed, 2 in total').waitFor();
      assert.equal(await page.getByText('nothing saved').count(), 0, 'they were saved');
      assert.equal(await saved(), 2);
    }));

  test('of 200 rows five are fixed in a grid, and the upload is found by its address', () =>
    walk(async (page) => {
      const run = Date.now().toString(36);
      const flat = (value, path = '') =>
        typeof value === 'object'
          ? Object.entries(value).flatMap(([name, inner]) =>
              flat(inner, path ? `${path}.${name}` : name),
            )
          : [[path, value]];
      const bad = [7, 31, 90, 150, 199];
      const rows = Array.from({ length: 200 }, (_, index) => {
        const body = onboarding(`Grid ${run} ${index + 1}`);
        if (index + 1 === 7) body.merchantData.email = 'nobody';
        else if (bad.includes(index + 1)) body.storeData.zipCode = '00000';
        return flat(body);
      });
      const lines = [
        rows[0].map(([path]) => path),
        ...rows.map((row) => row.map(([, cell]) => cell)),
      ];
      await open(page, '/merchants/bulk');
      await page.setInputFiles('input[type=file]', {
        name: 'pier.png',
        mimeType: 'image/png',
        buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47]),
      });
      await page.getByText('pier.png is not a CSV or JSON Lines file.').waitFor();
      await page.setInputFiles('input[type=file]', {
        name: 'rows.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(lines.map((line) => line.join(',')).join('\n')),
      });
      await page.getByRole('button', { name: 'Check all 200 rows' }).click();
      await page.getByText('195 valid, 5 with errors, nothing saved').waitFor();
      const grid = page.getByRole('region', { name: 'Rows with errors' });
      await isFitForEverybody(page, 'cells with errors');
      assert.deepEqual(
        await grid.locator('tbody tr td:first-child').allTextContents(),
        bad.map(String),
      );
      assert.equal(await grid.locator('input').count(), 5, 'only wrong cells are edited');
      await grid.getByLabel('E-mail of row 7').fill('ada@example.org');
      for (const row of bad.slice(1)) await grid.getByLabel(`ZIP code of row ${row}`).fill('94103');
      await page.getByRole('button', { name: 'Check the 5 fixed rows' }).click();
      await page.getByText('200 rows valid, nothing saved').waitFor();
      await page.getByRole('button', { name: 'Onboard all 200 rows' }).click();
      await page.getByText('200 onboarded, 0 failed, 200 in total').waitFor();
      assert.match(page.url(), /upload=blk_/);
      await page.reload();
      await page.getByText('200 onboarded, 0 failed, 200 in total').waitFor();
      await open(page, '/merchants/bulk');
      await page.getByRole('region', { name: 'Uploads' }).locator('tbody a').first().click();
      await page.getByText('200 onboarded, 0 failed, 200 in total').waitFor();
      await isFitForEverybody(page, 'an upload');
    }));

  test('the sample file is valid, and unknown columns are reported', () =>
    walk(async (page) => {
      await open(page, '/merchants/bulk');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download a sample' }).click(),
      ]);
      assert.equal(download.suggestedFilename(), 'merchants.csv');
      const sample = await readFile(await download.path(), 'utf8');
      const choose = (text) =>
        page.setInputFiles('input[type=file]', {
          name: 'rows.csv',
          mimeType: 'text/csv',
          buffer: Buffer.from(text),
        });
      await choose(
        sample
          .replaceAll('Harbor Cafe', `Sample ${RUN}`)
          .replace('demo-processor-key', `sample-${RUN}`),
      );
      await page.getByRole('button', { name: 'Check this row' }).click();
      await page.getByText('1 row valid, nothing saved').waitFor();
      assert.equal(await page.getByRole('alert').count(), 0);
      await choose('name,merchantData.email\nHarbor,ada@example.org\n');
      await page.getByText('Unknown columns: name.').waitFor();
      await isFitForEverybody(page, 'columns that are no fields');
      await choose('name,email\nHarbor,ada@example.org\n');
      await page.getByText('None of these columns are known: name, email.').waitFor();
    }));

  test('a file that cannot be read is refused with a sentence', () =>
    walk(
      async (page) => {
        await open(page, '/merchants/bulk');
        await page.setInputFiles('input[type=file]', {
          name: 'rows.csv',
          mimeType: 'text/csv',
          buffer: Buffer.from('merchantData.dba\n'),
        });
        await page.getByRole('button', { name: /^Onboard/ }).click();
        await page.getByRole('alert').waitFor();
      },
      { allowed: [/40\d|41\d|42\d/] },
    ));
});
