// The operator's page of an ISO: what it has, what a suspension stops, and how it goes on.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { becomes, isFitForEverybody, open, settled, walk, world } from '../support.mjs';

const REASON = 'Invoice 17 is open';
const headers = () => ({
  authorization: `Api-Key ${world.server.api_key}`,
  'content-type': 'application/json',
});

/** Gives the ISO an address to which e-mail about it goes. */
async function setContact(isoId, email) {
  const url = `${world.server.url}/v1/isos/${isoId}`;
  const { version } = await (await fetch(url, { headers: headers() })).json();
  const body = JSON.stringify({ email, contactName: 'Ada Pier', expectedVersion: version });
  const changed = await fetch(url, { method: 'PATCH', headers: headers(), body });
  assert.equal(changed.status, 200);
}

/** Lets the ISO go on, if it is suspended: also after a walk that stopped half-way. */
async function resume(page, address) {
  await open(page, address);
  if ((await page.getByRole('button', { name: 'Resume' }).count()) === 0) return;
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Demo ISO resumed').waitFor();
}

describe('ISOs', () => {
  test('the operator suspends an ISO, reads everything meanwhile, and resumes it', () =>
    walk(async (page) => {
      const asked = async () =>
        (await fetch(`${world.server.url}/v1/merchants?limit=1`, { headers: headers() })).status;
      await open(page, '/console/isos');
      await page.getByRole('link', { name: 'Demo ISO' }).click();
      await page.getByRole('heading', { name: /Demo ISO/ }).waitFor();
      const address = page.url().replace(/.*\/portal/, '');
      await setContact(address.split('/').pop(), 'ada@pier.example');
      await open(page, address);
      await page.getByRole('link', { name: 'ada@pier.example' }).waitFor();
      await page.getByRole('row', { name: /Merchants/ }).waitFor();
      await isFitForEverybody(page, 'the page of an ISO');
      await page.getByRole('button', { name: 'Suspend' }).click();
      const dialog = page.getByRole('dialog');
      for (const effect of [/API keys? (is|are) rejected/, /merchants? cannot be changed/])
        await dialog.getByText(effect).waitFor();
      await dialog.getByText('ada@pier.example is notified').waitFor();
      await isFitForEverybody(page, 'what a suspension stops');
      await dialog.getByRole('button', { name: 'Suspend' }).click();
      await dialog.getByText('Check: Reason').waitFor();
      assert.equal(await asked(), 200, 'nothing has happened yet');
      try {
        await dialog.getByLabel('Reason').fill(REASON);
        await dialog.getByRole('button', { name: 'Suspend' }).click();
        await page.getByText(`This ISO is suspended: ${REASON}.`).waitFor();
        await becomes(asked, 401);
        await world.server.mail.find(new RegExp(`ada@pier.example[^]*Reason: ${REASON}`));

        await page.getByRole('main').getByRole('link', { name: 'Merchants' }).click();
        await page.waitForURL(/\/merchants$/);
        await settled(page);
        await page.getByText(`This ISO is suspended: ${REASON}.`).waitFor();
        await page.locator('main tbody a').first().click();
        await page.waitForURL(/\/merchants\/[A-Z0-9]+/);
        await page.getByRole('heading', { name: 'History' }).waitFor();
        for (const view of ['/console/keys', '/console/people', '/console/templates']) {
          await open(page, view);
          await page.getByText(`This ISO is suspended: ${REASON}.`).waitFor();
          assert.equal(await page.getByText('Could not load this').count(), 0, view);
        }
        await open(page, '/console/audit');
        await page
          .getByRole('row', { name: /ISO suspended.*Invoice 17/ })
          .first()
          .waitFor();
        await isFitForEverybody(page, 'a suspended ISO');
      } finally {
        await resume(page, address);
      }
      await page.getByRole('button', { name: 'Suspend' }).waitFor();
      await becomes(asked, 200);
    }));
});
