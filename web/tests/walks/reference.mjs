// The documentation: guides, and the reference with its trials.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFitForEverybody, open, walk, world } from '../support.mjs';

describe('the documentation', () => {
  test('an operation is found and tried against the sandbox', () =>
    walk(async (page) => {
      await open(page, '/reference');
      await page.getByLabel('Search').fill('errors');
      await page.getByRole('link', { name: /\/v1\/errors/ }).click();
      await page.getByRole('button', { name: 'Send to sandbox' }).click();
      await page.getByText('already_exists').first().waitFor();
      assert.match(await page.locator('.sent strong').textContent(), /200/);
    }));

  test('operations of the REST interface tell their answers, and are tried', () =>
    walk(async (page) => {
      await open(page, '/reference?interface=wc%2Fv3&search=coupons');
      await page.getByRole('link', { name: /GET \/wc\/v3\/coupons$/ }).click();
      await page.waitForURL(/operation=get-wc-v3-coupons/);
      const address = `${page.url().split('/portal')[1]}#answer-2xx`;
      await open(page, address);
      const good = page.locator('.answer', { has: page.locator('#answer-2xx') });
      await good.getByText('discount_type').first().waitFor();
      assert.match(await good.locator('pre').textContent(), /"discount_type": "fixed_cart"/);
      await isFitForEverybody(page, 'an answer');
      const refused = page.locator('.answer', { has: page.locator('#answer-4xx') });
      await refused.locator('summary').first().click();
      await refused.getByText('A stable code for programs').waitFor();
      await page.getByRole('button', { name: 'Send to sandbox' }).click();
      await page.locator('.sent strong').getByText('200').waitFor();
      assert.match(await page.locator('.sent pre').textContent(), /"code"/);
    }));

  test('an operation of onboarding is tried in one’s own name, and refusals are shown as they come', () =>
    walk(
      async (page) => {
        await open(page, '/reference?search=merchants');
        await page.getByRole('link', { name: /GET \/v1\/merchants$/ }).click();
        const good = page.locator('.answer', { has: page.locator('#answer-200') });
        await good.locator('summary').first().click();
        await good.getByText('merchantId').first().waitFor();
        await page.getByRole('button', { name: 'Send to sandbox' }).click();
        await page.locator('.sent strong').getByText('200').waitFor();
        await page.getByLabel('API key').fill('bw_test_nonsense');
        await page.getByRole('button', { name: 'Send to sandbox' }).click();
        await page.locator('.sent strong').getByText('401').waitFor();
        await page.getByLabel('API key').fill('');
      },
      { allowed: [/401/] },
    ));

  test('guides are searched, and oEmbed knows their addresses', () =>
    walk(async (page) => {
      await page.goto(`${world.server.url}/docs`);
      const guide = await page.locator('main a[href*="/docs/"]').first().getAttribute('href');
      const url = new URL(guide, world.server.url).href;
      const answer = await fetch(
        `${world.server.url}/wp-json/oembed/1.0/embed?url=${encodeURIComponent(url)}`,
      );
      assert.equal(answer.status, 200);
      assert.ok((await answer.json()).title);
      const operation = `${world.server.url}/portal/reference?interface=wc%2Fv3&operation=get-wc-v3-coupons`;
      const embedded = await (
        await fetch(
          `${world.server.url}/wp-json/oembed/1.0/embed?url=${encodeURIComponent(operation)}`,
        )
      ).json();
      assert.deepEqual(
        [embedded.type, embedded.title],
        ['link', 'API reference: get-wc-v3-coupons'],
      );
      await page.locator('input[name=q]').first().fill('idempotency');
      await page.keyboard.press('Enter');
      await page.locator('main a[href*="/docs/"]').first().waitFor();
      assert.match(page.url(), /q=idempotency/);
    }));
});
