// People of an ISO, a merchant and a store: invited by e-mail, shown what they may see, removed.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFitForEverybody, onboarding, open, settled, signIn, walk, world } from '../support.mjs';

const PASSWORD = 'a walk on the pier 2026';

/** Invites somebody with the page of people, for the first merchant or store that is offered. */
async function invite(page, email, role, { bound = false } = {}) {
  await open(page, '/console/people');
  await page.getByRole('button', { name: 'Invite someone' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('E-mail').fill(email);
  await dialog.getByLabel('Role').selectOption(role);
  if (bound) {
    await dialog.getByRole('combobox', { name: role, exact: true }).click();
    await dialog.getByRole('listbox').getByRole('option').first().click();
    await dialog.getByRole('button', { name: `Change ${role}` }).waitFor();
  }
  await isFitForEverybody(page, `the invitation of a ${role}`);
  await dialog.getByRole('button', { name: 'Send invitation' }).click();
  await page.getByText(`Invitation sent to ${email}`).waitFor();
  await page.getByRole('row', { name: new RegExp(email) }).waitFor();
}

const link = async (email) =>
  (await world.server.mail.find(new RegExp(`${email}[^]*/portal(/invitation\\?token=\\w+)`)))[1];

/** Accepts in a browser of their own, signs in there, and gives that page to `work`. */
async function accept(context, email, work) {
  const other = await context.browser().newContext();
  const page = await other.newPage();
  const wrong = [];
  page.on('response', (answer) => answer.status() >= 400 && wrong.push(answer.url()));
  await open(page, await link(email));
  await page.getByLabel('Your name').fill('Ida Pier');
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByRole('button', { name: 'Accept invitation' }).click();
  await page.getByText('Welcome').waitFor();
  await isFitForEverybody(page, 'an accepted invitation');
  await signIn(page, { login: email, password: PASSWORD });
  await settled(page);
  await work(page, wrong);
  await other.close();
}

/** Opens every page of the menu; none of them is refused, nor anything that it asks for. */
async function seesAll(page, wrong, expected, missing) {
  await open(page, '/account');
  const links = await page
    .locator('#menu a')
    .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
  const paths = links
    .filter((path) => path?.startsWith('/portal/'))
    .map((path) => path.replace('/portal', ''));
  for (const path of expected) assert.ok(paths.includes(path), `${path} is not in the menu`);
  for (const path of missing) assert.ok(!paths.includes(path), `${path} is in the menu`);
  for (const path of paths) {
    await open(page, path);
    assert.equal(await page.getByText('You don’t have access').count(), 0, path);
    assert.deepEqual(wrong, [], path);
  }
}

/** Staff read templates, webhooks and deliveries; nothing offers them what they may not do. */
async function offersStaffNothing(page) {
  const { url } = await onboarding('GET', 'sandbox/webhooks?limit=1');
  const { webhookId } = await onboarding('POST', 'webhooks', { url });
  const { deliveryId } = await onboarding('POST', `webhooks/${webhookId}/test`, {});
  const webhook = `/console/webhooks/${webhookId}`;
  const { data } = await onboarding('GET', 'templates?limit=1');
  for (const path of [
    '/console/webhooks',
    webhook,
    `${webhook}/deliveries/${deliveryId}`,
    '/console/templates',
    `/console/templates/${data[0].name}`,
  ]) {
    await open(page, path);
    const offered = await page.locator('main .button').allTextContents();
    const forbidden = /New|Edit|Send|Rotate|Disable|Delete|Recover|Resend|Retire|Save as/;
    assert.deepEqual(
      offered.filter((text) => forbidden.test(text)),
      [],
      path,
    );
  }
  await page.getByRole('heading', { name: data[0].name }).waitFor();
  await onboarding('DELETE', `webhooks/${webhookId}`, {});
}

describe('people', () => {
  const mark = () => Date.now().toString(36);

  test('staff of an ISO are invited, see all that the menu names, and are removed', () =>
    walk(
      async (page, context) => {
        const email = `staff-${mark()}@pier.example`;
        await invite(page, email, 'ISO staff');
        await accept(context, email, async (theirs, wrong) => {
          const missing = ['/console/keys', '/console/audit', '/console/people', '/users'];
          await seesAll(theirs, wrong, ['/merchants', '/console/templates'], missing);
          await offersStaffNothing(theirs);
          assert.deepEqual(wrong, []);
          // The link works once.
          await open(theirs, await link(email));
          await theirs.getByLabel(/^Password/).fill(PASSWORD);
          await theirs.getByRole('button', { name: 'Accept invitation' }).click();
          await theirs.getByText('The link was already used').waitFor();
          await open(page, '/console/people');
          const row = page.getByRole('row', { name: new RegExp(email) });
          await row.getByRole('button', { name: 'Change role' }).click();
          await page.getByRole('dialog').getByLabel('Role').selectOption('ISO administrator');
          await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
          await row.getByText('ISO administrator').waitFor();
          await open(theirs, '/console/people');
          await theirs.getByText('you', { exact: true }).waitFor();
          await row.getByRole('button', { name: 'Remove' }).click();
          await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
          await row.waitFor({ state: 'detached' });
          await open(theirs, '/merchants');
          await theirs.getByRole('link', { name: 'Sign in' }).waitFor();
        });
      },
      { allowed: [/40[0139]/] },
    ));

  for (const role of ['Merchant', 'Store'])
    test(`a ${role.toLowerCase()} is invited, and sees all that the menu names`, () =>
      walk(async (page, context) => {
        const email = `${role.toLowerCase()}-${mark()}@pier.example`;
        await invite(page, email, role, { bound: true });
        await accept(context, email, (theirs, wrong) =>
          seesAll(theirs, wrong, ['/analytics'], ['/merchants', '/store/orders', '/console/keys']),
        );
      }));

  test('an invitation is withdrawn, and its link works no more', () =>
    walk(
      async (page) => {
        const email = `never-${mark()}@pier.example`;
        await invite(page, email, 'ISO administrator');
        const path = await link(email);
        const row = page.getByRole('row', { name: new RegExp(email) });
        await row.getByRole('button', { name: 'Withdraw' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
        await row.waitFor({ state: 'detached' });
        await open(page, path);
        await page.getByLabel(/^Password/).fill(PASSWORD);
        await page.getByRole('button', { name: 'Accept invitation' }).click();
        await page.getByText('was withdrawn').waitFor();
      },
      { allowed: [/400/] },
    ));
});
