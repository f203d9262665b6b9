// The documentation: guides, and the reference with its trials.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { open, settled, walk, world } from '../support.mjs';

describe('the documentation', () => {
  test('an operation is found and tried against the sandbox', () =>
    walk(async (page) => {
      await open(page, '/reference');
      await page.getByLabel('Search').fill('errors');
      await page.getByRole('link', { name: /\/v1\/errors/ }).click();
      await page.getByRole('button', { name: 'Send to the sandbox' }).click();
      await page.getByText('already_exists').first().waitFor();
      await open(page, '/reference?interface=wc%2Fv3&search=coupons');
      await settled(page);
      assert.match(page.url(), /interface=wc/);
    }));

  test('guides are searched, and oEmbed knows their addresses', () =>
    walk(async (page) => {
      await page.goto(`${world.server.url}/docs`);
      const guide = await page.locator('main a[href*="/docs/"]').first().getAttribute('href');
      const url = new URL(guide, world.server.url).href;
      const answer = await fetch(`${world.server.url}/wp-json/oembed/1.0/embed?url=${encodeURIComponent(url)}`);
      assert.equal(answer.status, 200);
      assert.ok((await answer.json()).title);
    }));
});
