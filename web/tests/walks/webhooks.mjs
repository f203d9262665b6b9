// Webhooks of an ISO: events chosen from the list, edited, deliveries read and sent again.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { becomes, isFitForEverybody, onboarding, open, settled, walk } from '../support.mjs';

/** Makes a webhook to the sandbox receiver, opens its page, and removes it afterwards. */
async function withWebhook(page, body, work) {
  const { url } = await onboarding('GET', 'sandbox/webhooks?limit=1');
  const made = await onboarding('POST', 'webhooks', {
    url: url + (body.query ?? ''),
    ...body.with,
  });
  try {
    await open(page, `/console/webhooks/${made.webhookId}`);
    await work(made);
  } finally {
    await onboarding('DELETE', `webhooks/${made.webhookId}`, {});
  }
}

const deliveries = async ({ webhookId }, status = '') =>
  (await onboarding('GET', `webhooks/${webhookId}/deliveries?limit=100${status}`)).data;

describe('webhooks', () => {
  test('a webhook gets the events that were chosen from the list, at the sandbox receiver', () =>
    walk(async (page) => {
      const name = `Walk ${Date.now().toString(36)}`;
      await open(page, '/console/webhooks');
      await page.getByRole('button', { name: 'New webhook' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Use the sandbox receiver' }).click();
      await page.waitForFunction(() =>
        document.querySelector('#asked-url')?.value.includes('/v1/sandbox/catcher/'),
      );
      await dialog.getByLabel('Description').fill(name);
      await dialog.getByLabel('All events').uncheck();
      await dialog.getByText('Select at least one event type.').waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'New webhook' }).isDisabled());
      await dialog.getByLabel('Search event types').fill('TPN');
      await dialog.getByLabel('tpn.created').check();
      await dialog.getByLabel('tpn.retired').check();
      await dialog.getByLabel('Search event types').fill('template');
      await dialog.getByLabel('template.*').check();
      assert.ok(await dialog.getByLabel('template.created').isChecked(), 'the group has it');
      await dialog.getByText('3 selected').waitFor();
      await isFitForEverybody(page, 'the choice of events');
      await dialog.getByRole('button', { name: 'New webhook' }).click();
      await page.getByText(/^whsec_/).waitFor();
      await isFitForEverybody(page, 'a new webhook');
      const made = (await onboarding('GET', 'webhooks')).data.find(
        (one) => one.description === name,
      );
      assert.deepEqual(made.events, ['tpn.created', 'tpn.retired', 'template.*']);
      await settled(page);
      await page.getByRole('row', { name }).getByRole('link').click();
      await page.getByText('tpn.created, tpn.retired, template.*').waitFor();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('Events are no longer sent to this URL').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.waitForURL(/console\/webhooks$/);
    }));

  test('a webhook is edited, and what was not touched stays', () =>
    walk(
      async (page) => {
        const before = {
          description: 'Before',
          events: ['merchant.*'],
          headers: [{ name: 'X-Token', value: 'abc' }],
        };
        await withWebhook(page, { with: before }, async ({ webhookId, url }) => {
          const shown = () => onboarding('GET', `webhooks/${webhookId}`);
          const dialog = page.getByRole('dialog');
          await page.getByRole('button', { name: 'Edit' }).click();
          await dialog.getByText('Set: x-token.').waitFor();
          await dialog.getByLabel('merchant.*').uncheck();
          await dialog.getByLabel('merchant.closed').check();
          await isFitForEverybody(page, 'the form of a webhook');
          await dialog.getByRole('button', { name: 'Save' }).click();
          await page.getByText('merchant.closed').waitFor();
          let now = await shown();
          assert.deepEqual(
            [now.url, now.description, now.events, now.headers.length],
            [url, 'Before', ['merchant.closed'], 1],
          );
          await page.getByRole('button', { name: 'Edit' }).click();
          await dialog.getByLabel('URL').fill('ftp://nowhere.example/');
          await dialog.getByRole('button', { name: 'Save' }).click();
          await dialog.locator('[id="asked-url-hint"] .error').waitFor();
          await dialog.getByLabel('URL').fill('https://hooks.example.com/in');
          await dialog.getByLabel('Description').fill('');
          await dialog.getByLabel('Remove all headers').check();
          await dialog.getByLabel('All events').check();
          await dialog.getByRole('button', { name: 'Save' }).click();
          await page.getByRole('heading', { name: 'https://hooks.example.com/in' }).waitFor();
          now = await shown();
          assert.deepEqual([now.description, now.events, now.headers], [null, ['*'], []]);
          await page.getByRole('button', { name: 'Disable' }).click();
          await page.getByRole('button', { name: 'Enable' }).waitFor();
          assert.equal((await shown()).status, 'disabled');
        });
      },
      { allowed: [/400|422/] },
    ));

  test('a delivery shows payload, response and time, and is sent again alone or with others', () =>
    walk(async (page) => {
      await withWebhook(page, {}, async (webhook) => {
        const rows = page.locator('main tbody tr');
        for (const number of [1, 2, 3]) {
          await page.getByRole('button', { name: 'Send test event' }).click();
          await rows.nth(number - 1).waitFor();
          await becomes(
            async () => (await deliveries(webhook, '&status=delivered')).length,
            number,
          );
        }
        await rows.first().getByText('delivered').waitFor();
        assert.match(await rows.first().textContent(), /200/);
        // Anew, since the list looks again for a while after something was sent.
        await open(page, `/console/webhooks/${webhook.webhookId}`);
        await isFitForEverybody(page, 'a webhook');
        await rows.first().getByRole('link', { name: 'webhook.test' }).click();
        await page.getByText('"type": "webhook.test"').waitFor();
        await page.getByText('Attempt 1').waitFor();
        await page.getByText('Status 200').waitFor();
        await page.getByText(/^\d+ ms$/).waitFor();
        await isFitForEverybody(page, 'a delivery');
        const address = page.url();
        await page.getByRole('button', { name: 'Resend' }).click();
        await page.waitForURL((url) => url.href !== address);
        // The page follows the event for a while; on a busy machine that may be too short.
        await becomes(async () => {
          const found = await deliveries(webhook, '&status=delivered');
          if (found.length < 4) await page.waitForTimeout(1000);
          return found.length;
        }, 4);
        await page.reload();
        await page.getByText('Attempt 1').waitFor();
        await page.locator('main').getByRole('link', { name: '← Webhook' }).click();
        await settled(page);
        assert.equal((await deliveries(webhook)).length, 4);
        await rows.nth(1).getByRole('checkbox').check();
        await rows.nth(2).getByRole('checkbox').check();
        await page.getByLabel('Actions', { exact: true }).selectOption('Resend');
        await page.getByText('Each event is sent again with the same ID.').waitFor();
        await isFitForEverybody(page, 'the question before events are sent again');
        await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click();
        await page.getByText('2 events sent again').waitFor();
        await becomes(async () => (await deliveries(webhook, '&status=delivered')).length, 6);
        await page.getByLabel('All statuses').selectOption('Failed');
        await page.getByText('No results').waitFor();
      });
    }));

  test('what was missed while a webhook was disabled is sent on request', () =>
    walk(async (page) => {
      const with_ = { events: ['template.*'] };
      await withWebhook(page, { with: with_ }, async (webhook) => {
        await page.getByRole('button', { name: 'Disable' }).click();
        await page.getByRole('button', { name: 'Enable' }).waitFor();
        const name = `MISSED${Date.now() % 1_000_000}`;
        const { templateId } = await onboarding('POST', 'templates', { name, parameters: {} });
        const isThere = async () =>
          (await onboarding('GET', 'events?types=template.*&limit=100')).data.some(
            (event) => event.data.id === templateId,
          );
        await becomes(isThere, true);
        // Who gets an event is decided a moment after it is listed: enabled before that, the webhook
        // misses nothing.
        await page.waitForTimeout(1_000);
        await page.getByRole('button', { name: 'Enable' }).click();
        await page.getByRole('button', { name: 'Disable' }).waitFor();
        await page.getByRole('button', { name: 'Recover missed events' }).click();
        await isFitForEverybody(page, 'the question which events were missed');
        await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
        await page.getByText(/\d+ events? sent/).waitFor();
        await page.locator('main tbody tr').first().getByText('template.created').waitFor();
        await becomes(async () => (await deliveries(webhook, '&status=waiting')).length, 0);
      });
    }));
});
