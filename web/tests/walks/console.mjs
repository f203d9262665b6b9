// The console of an ISO: keys, templates, events, the audit log.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { becomes, isFitForEverybody, open, settled, walk, world } from '../support.mjs';

const asked = async (key) =>
  (
    await fetch(`${world.server.url}/v1/merchants?limit=1`, {
      headers: { authorization: `Api-Key ${key}` },
    })
  ).status;

describe('the console', () => {
  test('a key is shown once, rotated with an overlap, and refused after it is revoked', () =>
    walk(async (page) => {
      await open(page, '/console/keys');
      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Walk');
      await dialog.getByRole('button', { name: 'New key' }).click();
      await dialog.getByText('Check: Access').waitFor();
      await dialog.getByLabel('Access').selectOption('Onboarding');
      await dialog.getByText('Onboard merchants, stores and TPNs.').waitFor();
      await isFitForEverybody(page, 'what a key will be allowed');
      await dialog.getByRole('button', { name: 'New key' }).click();
      const shown = page.locator('.once code');
      const first = await shown.textContent();
      await isFitForEverybody(page, 'a new key');
      assert.equal(await asked(first), 200);
      await settled(page);
      await page
        .getByRole('row', { name: /Walk/ })
        .first()
        .getByRole('button', { name: 'Rotate' })
        .click();
      await page.getByText('works for another 24 hours').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      await page.waitForFunction(
        (old) => document.querySelector('.once code')?.textContent !== old,
        first,
      );
      const second = await shown.textContent();
      assert.deepEqual([await asked(first), await asked(second)], [200, 200]);
      await page.getByRole('button', { name: 'Done' }).click();
      await settled(page);
      const row = page.getByRole('row').filter({ hasText: second.split('_')[2] });
      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('revoked').waitFor();
      await becomes(() => asked(second), 401);
    }));

  test('a key gets the scopes, networks and days that were chosen', () =>
    walk(
      async (page) => {
        // In letters, too: thirteen digits may look like the number of a card, which is refused.
        const name = `Narrow ${Date.now().toString(36)}`;
        await open(page, '/console/keys');
        await page.getByRole('button', { name: 'New key' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Name').fill(name);
        await dialog.getByLabel('Access').selectOption('Choose permissions');
        await dialog.getByText('None selected').click();
        await dialog.getByLabel('merchants.read: Read merchants').check();
        await dialog.getByLabel('Allowed IP addresses').fill('somewhere');
        await dialog.getByLabel('Expires after (days)').fill('9999');
        await dialog.getByText('Must be 730 or less').waitFor();
        await dialog.getByLabel('Expires after (days)').fill('30');
        await dialog.getByRole('button', { name: 'New key' }).click();
        await dialog.locator('[id="asked-allowedIps-hint"] .error').waitFor();
        await isFitForEverybody(page, 'the form of a key');
        await dialog.getByLabel('Allowed IP addresses').fill('127.0.0.0/8, 203.0.113.7');
        await dialog.getByRole('button', { name: 'New key' }).click();
        const text = await page.locator('.once code').textContent();
        assert.equal(await asked(text), 200);
        const refused = await fetch(`${world.server.url}/v1/keys`, {
          headers: { authorization: `Api-Key ${text}` },
        });
        assert.deepEqual(
          [refused.status, (await refused.json()).errors[0].code],
          [403, 'insufficient_scope'],
        );
        const headers = { authorization: `Api-Key ${world.server.api_key}` };
        const made = (
          await (await fetch(`${world.server.url}/v1/keys`, { headers })).json()
        ).data.find((key) => key.name === name);
        assert.deepEqual(
          [made.scopes, made.allowedIps],
          [['merchants.read'], ['127.0.0.0/8', '203.0.113.7']],
        );
        assert.equal(
          Math.round((Date.parse(made.expires) - Date.parse(made.created)) / 86_400_000),
          30,
        );
      },
      { allowed: [/400|422/] },
    ));

  test('a template gets a new version, and the portal tells what changed', () =>
    walk(async (page) => {
      const name = `WALK${Date.now() % 1_000_000}`;
      await open(page, '/console/templates/new');
      await page.getByLabel(/^Name/).fill(name);
      await page.getByRole('checkbox', { name: 'Tip enabled' }).check();
      await page.getByRole('button', { name: 'New template' }).click();
      await page.waitForURL(new RegExp(name));
      await page.getByRole('checkbox', { name: 'Tax enabled' }).check();
      await page.getByRole('button', { name: 'Save as new version' }).click();
      await page.getByText('Changes since').waitFor();
      await page.locator('.diff li', { hasText: 'taxEnabled' }).waitFor();
      await isFitForEverybody(page, 'a template with versions');
    }));

  test('the chain of the audit log is verified', () =>
    walk(async (page) => {
      await open(page, '/console/audit');
      await page.getByRole('button', { name: 'Verify log' }).click();
      await page.getByText(/Intact: \d+ entries/).waitFor();
      await page.getByLabel('Search people, actions, IDs and fields').fill('template created');
      await page.waitForURL(/search=template/);
      await settled(page);
      const found = await page.locator('main tbody tr').allTextContents();
      assert.ok(found.length > 0 && found.every((row) => row.includes('Template created')));
      await isFitForEverybody(page, 'the audit log');
      await open(page, '/console/events?types=merchant.*');
      await page.locator('main tbody').getByText('merchant.created').first().waitFor();
    }));
});
