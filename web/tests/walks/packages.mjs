// Plugins and themes: installed, configured, uploaded, refused; and what a theme makes of the portal.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, open, save, settled, walk, world } from '../support.mjs';
import { zip } from '../zip.mjs';

const RUN = String(Date.now() % 10_000_000);
const card = (page, name) =>
  page.locator('li', { has: page.getByRole('heading', { name, exact: true }) });
const press = (place, name) => place.getByRole('button', { name, exact: true }).click();

/** An archive as authors make it. */
function archive(manifest, content) {
  const text = JSON.stringify(content);
  const sha256 = { [manifest]: createHash('sha256').update(text).digest('hex') };
  return zip({ [manifest]: text, 'checksums.json': JSON.stringify({ sha256 }) });
}
const file = (name, buffer) => ({ name, mimeType: 'application/zip', buffer });
const upload = (page, name, buffer) => page.setInputFiles('input[type=file]', file(name, buffer));

/** What a theme changes, as the browser shows it. */
const look = (page) =>
  page.evaluate(() => {
    const of = (selector) => getComputedStyle(document.querySelector(selector));
    return {
      paper: of('body').backgroundColor,
      ink: of('body').color,
      font: of('body').fontFamily,
      link: of('nav a').color,
    };
  });

describe('plugins and themes', () => {
  test('a plugin is installed, activated, configured, switched off and removed after a question', () =>
    walk(async (page) => {
      await open(page, '/store/plugins');
      const letters = card(page, 'Letters');
      for (const step of ['Install', 'Activate']) await press(letters, step);
      await letters.getByText('active').waitFor();
      await letters.getByRole('link', { name: 'Settings' }).click();
      await page.waitForURL(/plugins\/letters/);
      await page.getByLabel('Sender').fill(`Pier ${RUN}`);
      await page.getByLabel('How often').selectOption('weekly');
      await isFitForEverybody(page, 'the settings of a plugin');
      await save(page);
      await page.reload();
      assert.equal(await page.getByLabel('Sender').inputValue(), `Pier ${RUN}`);
      await press(page, 'Deactivate');
      await page
        .getByRole('heading', { name: /Letters/ })
        .getByText('installed')
        .waitFor();
      await open(page, '/store/plugins');
      await press(letters, 'Delete');
      await page.getByText('deletes its settings').waitFor();
      await press(page.getByRole('dialog'), 'Delete');
      await letters.getByRole('button', { name: 'Install', exact: true }).waitFor();
    }));

  test('a plugin of one’s own is uploaded, and a broken archive is refused with a sentence', () =>
    walk(
      async (page) => {
        await open(page, '/store/plugins');
        const name = `Walk ${RUN}`;
        const good = archive('plugin.json', {
          slug: `walk-${RUN}`,
          name,
          version: '1.0.0',
          description: 'From a file.',
        });
        await upload(page, 'walk.zip', good);
        await page.getByText('walk.zip installed').waitFor();
        await card(page, name).getByText('installed').waitFor();
        await upload(page, 'broken.zip', good.subarray(0, good.length / 2));
        await page.getByText(/Could not install broken\.zip: /).waitFor();
        await isFitForEverybody(page, 'a refused plugin');
        await press(card(page, name), 'Delete');
        await press(page.getByRole('dialog'), 'Delete');
        await card(page, name).waitFor({ state: 'detached' });
      },
      { allowed: [/400/] },
    ));

  test('a theme changes the portal itself, at once and from the first pixel, and goes again', () =>
    walk(
      async (page) => {
        await open(page, '/store/themes');
        const usual = await look(page);
        const harbour = card(page, 'Harbour');
        // A run may follow another one.
        if (await harbour.getByRole('button', { name: 'Install', exact: true }).count())
          await press(harbour, 'Install');
        await press(harbour, 'Activate');
        await harbour.getByRole('button', { name: 'Deactivate' }).waitFor();
        const paper = 'rgb(244, 246, 248)';
        await page.waitForFunction(
          (wanted) => getComputedStyle(document.body).backgroundColor === wanted,
          paper,
        );
        const themed = await look(page);
        assert.match(themed.font, /Georgia/);
        assert.notEqual(themed.ink, usual.ink);
        await page.getByText('Served from the harbour.').waitFor();
        assert.match(await page.locator('.brand img').getAttribute('src'), /^data:image\//);
        await isFitForEverybody(page, 'a theme');
        // On the next load the colours are there before the script runs.
        await page.route('**/portal/assets/*.js', (route) => route.abort());
        await page.goto(`${world.server.url}/portal/store/themes`, { waitUntil: 'commit' });
        await page.waitForSelector('body', { state: 'attached' });
        await page.waitForFunction(
          (wanted) => getComputedStyle(document.body).backgroundColor === wanted,
          paper,
        );
        await page.unroute('**/portal/assets/*.js');
        await open(page, '/store/themes');
        await press(harbour, 'Deactivate');
        await harbour.getByRole('button', { name: 'Activate', exact: true }).waitFor();
        await page.waitForFunction(
          (wanted) => getComputedStyle(document.body).backgroundColor === wanted,
          usual.paper,
        );
        assert.deepEqual(await look(page), usual);
        assert.equal(await page.locator('.brand img').count(), 0);
      },
      { allowed: [/ERR_FAILED/] },
    ));

  for (const [slug, colorScheme] of [
    ['harbour', 'dark'],
    ['night-watch', 'light'],
    ['night-watch', 'dark'],
  ]) {
    test(`the theme ${slug} can be read by those who prefer ${colorScheme} pages`, async () => {
      await call('POST', 'wc-admin/onboarding/themes/install', { theme: slug });
      await call('POST', 'wc-admin/onboarding/themes/activate', { theme: slug });
      await walk(
        async (page) => {
          for (const view of [
            '/analytics',
            '/store/orders',
            '/merchants',
            '/account',
            '/store/setup',
          ]) {
            await open(page, view);
            await isFitForEverybody(page, `${view} with ${slug}`);
          }
        },
        { options: { colorScheme } },
      );
      await call('POST', 'boardwalk/v1/themes/deactivate', {});
    });
  }

  test('a theme of one’s own is uploaded, warned of, and a file that is none is refused', () =>
    walk(async (page) => {
      await open(page, '/store/themes');
      const name = `Pale ${RUN}`;
      const pale = archive('theme.json', {
        slug: `pale-${RUN}`,
        name,
        version: '1.0.0',
        colours: { ink: '#999999', paper: '#ffffff' },
      });
      await upload(page, 'pale.zip', pale);
      await page.getByText('pale.zip installed').waitFor();
      await settled(page);
      await card(page, name)
        .getByText(/ink on paper has a contrast/)
        .waitFor();
      for (const [archiveName, content] of [
        ['nothing.zip', Buffer.from('nothing')],
        ['again.zip', pale],
      ]) {
        await upload(page, archiveName, content);
        await page.getByText(`Could not install ${archiveName}`).waitFor();
      }
      await press(card(page, name), 'Delete');
      await press(page.getByRole('dialog'), 'Delete');
      await card(page, name).waitFor({ state: 'detached' });
    }));
});
