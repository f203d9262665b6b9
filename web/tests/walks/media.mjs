// The media library: a file is sent by button and by drop, described, found, chosen for a product, and
// deleted.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, open, save, settled, walk } from '../support.mjs';

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const RUN = Date.now().toString(36);
const file = (name, buffer = PIXEL) => ({ name, mimeType: 'image/png', buffer });
const upload = (page, ...files) => page.getByLabel('Upload files').setInputFiles(files);
const inLibrary = (page, name) => page.getByRole('button', { name, exact: true });

describe('the media library', () => {
  test('a file is uploaded, described, found, and deleted after a question', () =>
    walk(async (page) => {
      const name = `pier-${RUN}`;
      await open(page, '/store/media');
      await upload(page, file(`${name}.png`));
      await inLibrary(page, name).click();
      const details = page.getByRole('dialog');
      await details.getByLabel('Alternative text').fill('A pier at dusk');
      await isFitForEverybody(page, 'details of a file');
      const stored = page.waitForResponse((answer) => answer.request().method() === 'PUT');
      await details.getByRole('button', { name: 'Save' }).click();
      assert.ok((await stored).ok());
      const [item] = await call('GET', `wp/v2/media?search=${name}`);
      assert.equal(item.alt_text, 'A pier at dusk');

      await page.getByLabel('Search').fill(name);
      await page.waitForURL(/search=/);
      await settled(page);
      assert.equal(await page.locator('.files li').count(), 1);
      await page.getByLabel('All types').selectOption('video');
      await page.getByText('No results').waitFor();
      await page.getByLabel('All types').selectOption('image');
      await isFitForEverybody(page, 'the media library');
      await inLibrary(page, name).click();
      await details.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('deleted for good').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('File deleted').waitFor();
      await inLibrary(page, name).waitFor({ state: 'detached' });
      assert.deepEqual(await call('GET', `wp/v2/media?search=${name}`), []);
    }));

  test('files are dropped on the page, and what is not taken is told with a reason', () =>
    walk(
      async (page) => {
        const name = `drop-${RUN}`;
        await open(page, '/store/media');
        const carried = await page.evaluateHandle(
          ([called, bytes]) => {
            const data = new DataTransfer();
            const content = Uint8Array.from(bytes);
            data.items.add(new File([content], `${called}.png`, { type: 'image/png' }));
            const program = new Uint8Array([0x4d, 0x5a]);
            data.items.add(new File([program], `${called}.exe`, { type: 'image/png' }));
            return data;
          },
          [name, [...PIXEL]],
        );
        await page.getByRole('group', { name: 'Media library' }).dispatchEvent('drop', {
          dataTransfer: carried,
        });
        await inLibrary(page, name).waitFor();
        await page.getByText(new RegExp(`Could not upload ${name}\\.exe: `)).waitFor();
        await isFitForEverybody(page, 'a refused file');
        const [item] = await call('GET', `wp/v2/media?search=${name}`);
        await call('DELETE', `wp/v2/media/${item.id}?force=true`);
      },
      { allowed: [/400/] },
    ));

  test('a product gets its picture from the library', () =>
    walk(async (page) => {
      const name = `goods-${RUN}`;
      await open(page, '/store/products/new');
      await page.fill('#name', `Goods ${RUN}`);
      await page.getByRole('button', { name: 'Choose from the library' }).click();
      await upload(page, file(`${name}.png`));
      await inLibrary(page, name).click();
      await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
      await save(page);
      await page.waitForURL(/products\/\d+/);
      const [product] = await call('GET', `wc/v3/products?search=Goods ${RUN}`);
      assert.deepEqual(
        product.images.map((image) => image.name),
        [name],
      );
      await isFitForEverybody(page, 'a product with a picture');
      await call('DELETE', `wc/v3/products/${product.id}?force=true`);
      await call('DELETE', `wp/v2/media/${product.images[0].id}?force=true`);
    }));
});
