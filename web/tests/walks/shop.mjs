// The shop: a buyer goes from the list to an order, and gets the money back. On a desk, on a phone,
// with the keyboard alone, and without scripts.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { becomes, call, isFitForEverybody, open, walk, world } from '../support.mjs';

const run = promisify(execFile);
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const EMAIL = 'ada@example.test';
/** By the beginning of a label; what is optional says so behind it. */
const ADDRESS = [
  [/^First name/, 'Ada'],
  [/^Last name/, 'Lake'],
  [/^Street address/, '1 Pier Rd'],
  [/^City/, 'Oakland'],
  [/^State/, 'California'],
  [/^(ZIP Code|Postcode)/, '94607'],
  [/^E-mail/, EMAIL],
];
/** What is sold in all walks; nobody else orders it. */
let anchor;

const nothing = async () => undefined;
const shop = (page, path) => page.goto(`${world.server.url}${path}`);

/** The product, found as buyers find it. */
async function find(page) {
  await shop(page, '/');
  await page.getByRole('link', { name: 'Shop', exact: true }).click();
  await page.getByRole('link', { name: 'Search' }).click();
  await page.getByLabel('Search products').fill(anchor.name);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('link', { name: anchor.name }).click();
  await page.getByRole('heading', { name: anchor.name }).waitFor();
}

async function enterAddress(page) {
  const billing = page.getByRole('group', { name: 'Billing address' });
  await billing.getByLabel('Country').selectOption('US');
  for (const [label, text] of ADDRESS) await billing.getByLabel(label).fill(text);
}

/** The number that the last page tells. */
async function orderNumber(page) {
  await page.getByRole('heading', { name: /Thank you/ }).waitFor();
  const facts = await page.locator('dl.facts').innerText();
  return Number(facts.match(/Order number\s*#?(\d+)/)[1]);
}

/** From the shop to an order; `pay` is what follows on another page. */
async function buy(page, { look = nothing, method = /bank transfer/i, pay = nothing } = {}) {
  await find(page);
  await look('the product');
  await page.getByLabel('Quantity').fill('2');
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('heading', { name: 'Cart' }).waitFor();
  await page.getByText('$50.00').first().waitFor();
  await look('the cart');
  await page.getByRole('link', { name: 'Go to checkout' }).click();
  await enterAddress(page);
  await page.getByRole('button', { name: 'Update totals' }).click();
  await page.getByLabel(method).check();
  await look('the checkout');
  await page.getByRole('button', { name: 'Place order' }).click();
  await pay();
  const number = await orderNumber(page);
  await look('the order received');
  return call('GET', `wc/v3/orders/${number}`);
}

function isOrdered(order) {
  assert.equal(order.status, 'on-hold');
  assert.equal(order.line_items[0].quantity, 2);
  assert.equal(order.billing.email, EMAIL);
  assert.equal(order.billing.state, 'CA');
}

/** What Lighthouse thinks of pages. */
async function marks(paths, settings = {}) {
  const script = join(process.env.LIGHTHOUSE, 'marks.mjs');
  const urls = paths.map((path) => `${world.server.url}${path}`);
  const { stdout } = await run('node', [script, ...urls], {
    env: { ...process.env, ...settings },
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Goes on with the Tab key until the element has the focus. */
async function tabTo(page, locator) {
  for (let presses = 0; presses < 120; presses++) {
    if (await locator.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${locator}`);
}

/** Of the choices of a group, the Tab key reaches one; arrows go on from there. */
async function choose(page, radio) {
  const name = await radio.getAttribute('name');
  const hasFocus = (element) => element === document.activeElement;
  for (let presses = 0; presses < 120; presses++) {
    if (await radio.evaluate(hasFocus)) return page.keyboard.press('Space');
    const isInGroup = await page.evaluate((own) => document.activeElement.name === own, name);
    await page.keyboard.press(isInGroup ? 'ArrowDown' : 'Tab');
  }
  throw new Error(`the keyboard does not reach ${radio}`);
}

/** Goes where Enter on the element leads to. */
async function enter(page, locator) {
  await tabTo(page, locator);
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
}

async function type(page, locator, text) {
  await tabTo(page, locator);
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(text);
}

describe('shop', () => {
  before(async () => {
    anchor = await call('POST', 'wc/v3/products', {
      name: 'Walking anchor',
      regular_price: '25',
      manage_stock: true,
      stock_quantity: 50,
    });
    await call('POST', 'boardwalk/v1/payment-gateways', {
      id: 'walk',
      name: 'Walk Pay',
      title: 'Card',
      sandbox: true,
      enabled: true,
    });
    await call('POST', 'wc/v3/shipping/zones/0/methods', { method_id: 'free_shipping' });
  });

  test('a buyer pays at the gateway, and the shop refunds through it', () =>
    walk(async (page) => {
      // The buyer is somebody else, with a browser of their own.
      let order;
      await walk(
        async (buyer) => {
          const look = (where) => isFitForEverybody(buyer, where);
          const pay = async () => {
            await buyer.getByRole('heading', { name: 'Sandbox payment' }).waitFor();
            await look('the payment page');
            await buyer.getByRole('button', { name: 'Approve', exact: true }).click();
          };
          order = await buy(buyer, { look, method: /^Card/, pay });
        },
        { isSignedIn: false },
      );
      // The gateway reports on its own way, which may take longer than the buyer's.
      const status = async () => (await call('GET', `wc/v3/orders/${order.id}`)).status;
      await becomes(status, 'processing');
      const left = await call('GET', `wc/v3/products/${anchor.id}`);
      await open(page, `/store/orders/${order.id}`);
      await page.getByRole('button', { name: 'Refund…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(`Quantity of ${anchor.name}`).fill('2');
      await dialog.getByText(/The payment provider is asked to return/).waitFor();
      await dialog.getByRole('button', { name: /^Refund / }).click();
      await dialog.waitFor({ state: 'detached' });
      const refunded = await call('GET', `wc/v3/orders/${order.id}`);
      const [line] = order.line_items;
      const paid = Number(line.total) + Number(line.total_tax);
      assert.equal(Number(refunded.refunds[0].total), -paid);
      const restocked = await call('GET', `wc/v3/products/${anchor.id}`);
      assert.equal(restocked.stock_quantity, left.stock_quantity + 2);
      const isPaidBack = async () =>
        (await call('GET', `wc/v3/orders/${order.id}/notes`)).some((note) =>
          note.note.startsWith('Card paid back'),
        );
      await becomes(isPaidBack, true);
    }));

  test('a buyer orders on a phone', () =>
    walk(
      async (page) => {
        const look = (where) => isFitForEverybody(page, `${where} on a phone`);
        isOrdered(await buy(page, { look }));
      },
      { isSignedIn: false, options: PHONE },
    ));

  test('a buyer orders without scripts', () =>
    walk(async (page) => isOrdered(await buy(page)), {
      isSignedIn: false,
      options: { javaScriptEnabled: false },
    }));

  test('a buyer orders with the keyboard alone', () =>
    walk(
      async (page) => {
        await shop(page, `/product/${anchor.slug}/`);
        await type(page, page.getByLabel('Quantity'), '2');
        await enter(page, page.getByRole('button', { name: 'Add to cart' }));
        await enter(page, page.getByRole('link', { name: 'Go to checkout' }));
        const billing = page.getByRole('group', { name: 'Billing address' });
        for (const [label, text] of ADDRESS) {
          // From the top: the order of the fields is the form's own matter.
          await page.locator('h1').evaluate((heading) => {
            heading.tabIndex = -1;
            heading.focus();
          });
          await type(page, billing.getByLabel(label), text);
        }
        await enter(page, page.getByRole('button', { name: 'Update totals' }));
        await choose(page, page.getByLabel(/bank transfer/i));
        await enter(page, page.getByRole('button', { name: 'Place order' }));
        isOrdered(await call('GET', `wc/v3/orders/${await orderNumber(page)}`));
      },
      { isSignedIn: false },
    ));

  test('pages of the shop have marks of 95 and better', { skip: !process.env.LIGHTHOUSE }, () =>
    walk(
      async (page, context) => {
        await shop(page, `/product/${anchor.slug}/`);
        await page.getByRole('button', { name: 'Add to cart' }).click();
        await page.getByRole('link', { name: 'Go to checkout' }).waitFor();
        const cookies = (await context.cookies()).map(({ name, value }) => `${name}=${value}`);
        const product = `/product/${anchor.slug}/`;
        const marked = [
          ...(await marks(['/', '/shop/', product])),
          // Search engines are kept out of the checkout on purpose.
          ...(await marks(['/checkout/'], { COOKIE: cookies.join('; '), SKIP: 'is-crawlable' })),
        ];
        assert.deepEqual(
          marked.map((one) => new URL(one.url).pathname),
          ['/', '/shop/', product, '/checkout/'],
        );
        for (const one of marked)
          for (const [mark, value] of Object.entries(one.marks))
            assert.ok(value >= 95, `${one.url}: ${mark} ${value}: ${one.short.join('; ')}`);
      },
      { isSignedIn: false },
    ),
  );

  test('what is missing is said where it is missing', () =>
    walk(
      async (page) => {
        await find(page);
        await page.getByRole('button', { name: 'Add to cart' }).click();
        await page.getByRole('link', { name: 'Go to checkout' }).click();
        await page.getByRole('button', { name: 'Place order' }).click();
        const alert = page.getByRole('alert');
        await alert.getByRole('heading', { name: 'Please check your entries' }).waitFor();
        await alert.getByRole('link').first().click();
        const named = await page.evaluate(() => location.hash.slice(1));
        assert.equal(await page.locator(`#${named}`).getAttribute('aria-invalid'), 'true');
        await isFitForEverybody(page, 'a checkout with errors');
      },
      { isSignedIn: false, allowed: [/400/] },
    ));
});
