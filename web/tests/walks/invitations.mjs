// A merchant is invited, fills in its form on a phone, and is onboarded by the ISO.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFitForEverybody, open, settled, walk, world } from '../support.mjs';

const PHONE = { width: 390, height: 844 };
const link = async (email) =>
  (await world.server.mail.find(new RegExp(`${email}[^]*/portal(/apply\\?token=\\w+)`)))[1];

/** Invites a merchant in three steps. */
async function invite(page, email) {
  await open(page, '/merchants/invitations');
  await page.getByRole('button', { name: 'Invite a merchant' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('E-mail').fill(email);
  await isFitForEverybody(page, 'the invitation of a merchant');
  await dialog.getByRole('button', { name: 'Send invitation' }).click();
  await page.getByText(`Invitation sent to ${email}`).waitFor();
}

describe('invitations of merchants', () => {
  const mark = () => Date.now().toString(36);

  test('a merchant fills in its form on a phone, and is onboarded', () =>
    walk(async (page, context) => {
      const name = `Pier Cafe ${mark()}`;
      const email = `owner-${mark()}@pier.example`;
      await invite(page, email);
      const phone = await context.browser().newContext({ viewport: PHONE, isMobile: true });
      const theirs = await phone.newPage();
      await open(theirs, await link(email));
      const fill = (path, value) => theirs.fill(`[id="${path}"]`, value);
      const value = (path) => theirs.inputValue(`[id="${path}"]`);
      await fill('merchantData.dba', name);
      await fill('merchantData.firstName', 'Ida');
      assert.equal(await value('merchantData.email'), email);
      await theirs.getByText('Saved', { exact: true }).waitFor();
      await isFitForEverybody(theirs, 'the form of a merchant');

      // What was typed is still there.
      await theirs.reload();
      await settled(theirs);
      await theirs.getByRole('button', { name: 'Submit' }).waitFor();
      assert.equal(await value('merchantData.dba'), name);
      await fill('merchantData.addressLine1', '1 Main Street');
      await fill('merchantData.zipCode', '94103');
      await theirs.getByText('San Francisco, CA').waitFor();
      await fill('merchantData.phoneNumber', '4155550100');
      await theirs.getByRole('button', { name: 'Submit' }).click();
      await theirs.getByText(/^Check: /).waitFor();
      await theirs.fill('#find-category', 'eating places');
      await theirs.getByRole('option', { name: /^5812/ }).click();
      await theirs.getByRole('button', { name: 'Submit' }).click();
      await theirs.getByText('Thank you').waitFor();
      await isFitForEverybody(theirs, 'a form that was submitted');
      await theirs.reload();
      await theirs.getByText('Thank you').waitFor();
      assert.equal(await theirs.getByText(name).count(), 0, 'the link shows nothing any more');
      await phone.close();

      await open(page, '/merchants/invitations?status=submitted');
      await page.getByRole('link', { name: email }).click();
      await page.getByText('The merchant has submitted the form').waitFor();
      await isFitForEverybody(page, 'an invitation that was submitted');
      await page.getByRole('link', { name: 'Review and onboard' }).click();
      await page.getByLabel('Processor').selectOption('CKNX');
      assert.equal(await page.inputValue('[id="merchantData.dba"]'), name);
      await page.getByLabel('Manufacturer').selectOption('Kozen');
      await page.getByLabel('Model').selectOption('P3');
      await page.getByLabel(/^Application/).selectOption('CRDT');
      await page.fill('[id="tpnData.tpnProcessor.profile[0].apiKey"]', `walk-${mark()}`);
      await page.getByRole('button', { name: 'Onboard', exact: true }).click();
      await page.getByRole('heading', { name: 'Merchant onboarded' }).waitFor();
      await page.getByRole('heading', { name }).first().waitFor();
      await open(page, '/merchants/invitations?status=completed');
      await page.getByRole('link', { name: email }).click();
      await page.getByRole('link', { name: 'Open the merchant' }).waitFor();
    }));

  test('an invitation that was withdrawn shows nothing', () =>
    walk(
      async (page, context) => {
        const email = `never-${mark()}@pier.example`;
        await invite(page, email);
        const path = await link(email);
        await page.getByRole('link', { name: email }).click();
        await page.getByRole('button', { name: 'Withdraw' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
        await page.getByText('withdrawn', { exact: true }).waitFor();
        const other = await context.browser().newContext({ viewport: PHONE });
        const theirs = await other.newPage();
        await open(theirs, path);
        await theirs.getByText('This link does not work').waitFor();
        await isFitForEverybody(theirs, 'a link that does not work');
        await other.close();
      },
      { allowed: [/400/] },
    ));
});
