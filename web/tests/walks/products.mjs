// Products: pictures in their order, categories, tags, attributes, variations, changes of many at once,
// copies and the trash.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { call, isFitForEverybody, open, save, settled, walk } from '../support.mjs';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const file = (name) => ({ name, mimeType: 'image/png', buffer: PIXEL });
/** A name that no other run has taken. */
const fresh = (word) => `${word} ${Date.now().toString(36)}`;
const product = (id) => call('GET', `wc/v3/products/${id}`);
const remove = (id) => call('DELETE', `wc/v3/products/${id}?force=true`);
const idOf = (page) => Number(page.url().match(/products\/(\d+)/)[1]);

async function make(page, name, values = {}) {
  await open(page, '/store/products/new');
  await page.fill('#name', name);
  for (const [field, value] of Object.entries(values)) await page.fill(`#${field}`, value);
}
async function saveNew(page) {
  await save(page);
  await page.waitForURL(/products\/\d+/);
  await settled(page);
  return idOf(page);
}
const find = async (page, label, text, option = text) => {
  await page.getByRole('combobox', { name: label }).fill(text);
  await page.getByRole('option', { name: option, exact: true }).click();
};
async function act(page, action) {
  await page.getByLabel('Select all rows on this page').check();
  await page.getByLabel('Actions').selectOption({ label: action });
}

describe('products', () => {
  test('pictures are uploaded, put in order and described', () =>
    walk(async (page) => {
      const name = fresh('Lantern');
      await make(page, name, { regular_price: '24' });
      const pictures = page.getByRole('region', { name: 'Images' });
      const [one, two] = [`front-${Date.now()}`, `back-${Date.now()}`];
      await pictures
        .locator('input[type=file]')
        .setInputFiles([file(`${one}.png`), file(`${two}.png`)]);
      await pictures.getByRole('button', { name: `Move ${two} forward` }).click();
      await pictures.getByLabel(`Alternative text of ${two}`).fill('The back of a lantern');
      await isFitForEverybody(page, 'pictures of a product');
      const id = await saveNew(page);
      const { images } = await product(id);
      assert.deepEqual(
        images.map((image) => [image.name, image.alt]),
        [
          [two, 'The back of a lantern'],
          [one, ''],
        ],
      );
      await remove(id);
      for (const image of images) await call('DELETE', `wp/v2/media/${image.id}?force=true`);
    }));

  test('a product with categories, tags and attributes gets variations with prices and stock', () =>
    walk(async (page) => {
      const [name, tag] = [fresh('Raincoat'), fresh('rain')];
      await make(page, name);
      await page.getByLabel('Type').selectOption('variable');
      await find(page, 'Add a category', 'Clothing');
      await find(page, 'Add a tag', tag, `Create “${tag}”`);
      await page.getByRole('button', { name: `Remove ${tag}` }).waitFor();
      const attributes = page.getByRole('region', { name: 'Attributes' });
      await attributes.getByLabel('Add an attribute').selectOption({ label: 'Colour' });
      const colour = attributes.getByRole('group', { name: 'Colour' });
      await find(colour, 'Add a value of Colour', 'Coral');
      await find(colour, 'Add a value of Colour', 'Sand');
      await colour.getByLabel('Used for variations').check();
      await isFitForEverybody(page, 'attributes of a product');
      const id = await saveNew(page);

      const variations = page.getByRole('region', { name: 'Variations' });
      await variations.getByRole('button', { name: 'Create variations' }).click();
      await page.getByLabel('Price of new variations').fill('79');
      await page.getByRole('dialog').getByRole('button', { name: 'Create variations' }).click();
      await page.getByText('2 variations created').waitFor();
      await variations.getByLabel('Regular price of Coral').fill('85');
      await variations.getByLabel('Stock of Sand').fill('12');
      await isFitForEverybody(page, 'variations of a product');
      await variations.getByRole('button', { name: 'Save variations' }).click();
      await page.getByText('2 variations saved').waitFor();

      const made = await product(id);
      assert.deepEqual(
        [made.categories.map((one) => one.name), made.tags.map((one) => one.name)],
        [['Clothing'], [tag]],
      );
      const found = await call('GET', `wc/v3/products/${id}/variations`);
      assert.deepEqual(
        found
          .map((one) => [one.attributes[0].option, one.regular_price, one.stock_quantity])
          .sort(),
        [
          ['Coral', '85', null],
          ['Sand', '79', 12],
        ],
      );
      await remove(id);
    }));

  test('many products get other prices, a category and a tag at once', () =>
    walk(async (page) => {
      const word = fresh('Bulk');
      const made = [];
      for (const [part, regular_price] of [
        ['one', '10'],
        ['two', '20'],
      ])
        made.push(await call('POST', 'wc/v3/products', { name: `${word} ${part}`, regular_price }));
      await open(page, `/store/products?search=${encodeURIComponent(word)}`);
      await act(page, 'Edit…');
      const form = page.getByRole('dialog');
      await form.getByLabel('Regular price').fill('lots');
      await form.getByLabel('Sale price').focus();
      await form.getByText('Contains a character').waitFor();
      await form.getByLabel('Regular price').fill('+10%');
      await form.getByLabel('Sale price').fill('-50%');
      await form.getByText('None selected').click();
      await form.getByLabel('Beach').check();
      await form.getByLabel('Add tags').fill(word);
      await isFitForEverybody(page, 'many products are edited');
      await form.getByRole('button', { name: 'Edit…' }).click();
      await page.getByText('2 products updated').waitFor();
      const changed = await Promise.all(made.map(({ id }) => product(id)));
      assert.deepEqual(
        changed.map((one) => [one.regular_price, one.sale_price, one.tags[0].name]),
        [
          ['11.00', '5.50', word],
          ['22.00', '11.00', word],
        ],
      );
      assert.ok(changed.every((one) => one.categories.some(({ name }) => name === 'Beach')));
      await Promise.all(made.map(({ id }) => remove(id)));
    }));

  test('a product is duplicated, goes to the trash, comes back, and is deleted', () =>
    walk(async (page) => {
      const name = fresh('Oar');
      const { id } = await call('POST', 'wc/v3/products', { name, regular_price: '30' });
      await open(page, `/store/products/${id}`);
      await page.getByRole('button', { name: 'Duplicate' }).click();
      await page.getByRole('heading', { name: `${name} (Copy)` }).waitFor();
      const copy = idOf(page);
      assert.deepEqual([copy !== id, (await product(copy)).status], [true, 'draft']);

      await open(page, `/store/products/${id}`);
      await page.getByRole('button', { name: 'Move to trash' }).click();
      await page.getByText(`${name} moved to trash`).waitFor();
      assert.equal((await product(id)).status, 'trash');
      await open(page, `/store/products?status=trash&search=${encodeURIComponent(name)}`);
      await act(page, 'Restore');
      await page.getByText('1 product restored').waitFor();
      assert.equal((await product(id)).status, 'publish');

      await open(page, `/store/products/${copy}`);
      await page.getByRole('button', { name: 'Move to trash' }).click();
      await page.getByRole('button', { name: 'Undo' }).click();
      await open(page, `/store/products/${copy}`);
      await page.getByRole('button', { name: 'Move to trash' }).click();
      await page.getByText('moved to trash').waitFor();
      await open(page, `/store/products/${copy}`);
      await isFitForEverybody(page, 'a product in the trash');
      await page.getByRole('button', { name: 'Delete permanently' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click();
      await page.getByText('deleted').waitFor();
      assert.deepEqual(await call('GET', `wc/v3/products?include=${copy}&status=any`), []);
      await remove(id);
    }));
});
