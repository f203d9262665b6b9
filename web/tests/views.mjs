// The addresses of all views, read from the router's own table, so that no new page is forgotten: a path
// with a variable that has no example here is a failure.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { call, onboarding, open, world } from './support.mjs';

const source = (name) => readFile(new URL(`../src/${name}`, import.meta.url), 'utf8');
const found = (text, pattern) => [...text.matchAll(pattern)].map((match) => match[1]);

/** The first link of a list whose address is one level below it. */
const first = (list) => async (page) => {
  await open(page, list);
  const links = await page
    .locator('main tbody a')
    .evaluateAll((all) => all.map((one) => one.getAttribute('href').replace('/portal', '')));
  return [links.find((link) => link.startsWith(`${list}/`))];
};

/** What stands for the variable of a path. */
const EXAMPLES = {
  '/analytics/:report': async () =>
    found(await source('lib/analytics/reports.ts'), /^ {4}id: '(\w+)'/gm).map(
      (id) => `/analytics/${id}`,
    ),
  '/merchants/:id': first('/merchants'),
  '/merchants/:id/history': async (page) => [`${(await first('/merchants')(page))[0]}/history`],
  '/merchants/:merchant/new-store': async (page) => [
    `${(await first('/merchants')(page))[0]}/new-store`,
  ],
  '/merchants/:merchant/stores/:store/new-terminal': async (page) => {
    await open(page, (await first('/merchants')(page))[0]);
    return [
      (
        await page.getByRole('link', { name: 'Add a terminal' }).first().getAttribute('href')
      ).replace('/portal', ''),
    ];
  },
  '/console/isos/:id': first('/console/isos'),
  '/merchants/invitations/:link': async (page) => {
    await open(page, '/merchants/invitations');
    if ((await page.locator('main tbody a').count()) === 0) {
      await page.getByRole('button', { name: 'Invite a merchant' }).first().click();
      await page.getByRole('dialog').getByLabel('E-mail').fill('views@pier.example');
      await page.getByRole('dialog').getByRole('button', { name: 'Send invitation' }).click();
      await page.locator('main tbody a').first().waitFor();
    }
    return first('/merchants/invitations')(page);
  },
  '/merchants/connected/:id': async (page) => {
    if ((await onboarding('GET', 'connections')).data.length === 0)
      await onboarding('POST', 'connections', { url: world.server.url });
    return first('/merchants/connected')(page);
  },
  '/merchants/invitations/:link/onboard': async (page) => [
    `${(await first('/merchants/invitations')(page))[0]}/onboard`,
  ],
  '/console/templates/:name': async (page) => [
    '/console/templates/new',
    ...(await first('/console/templates')(page)),
  ],
  '/console/webhooks/:id': async (page) => {
    await open(page, '/console/webhooks');
    if ((await page.locator('main tbody a').count()) === 0) {
      await page.getByRole('button', { name: 'New webhook' }).click();
      await page.getByLabel('URL').fill('https://hooks.example.com/views');
      await page.getByRole('dialog').getByRole('button', { name: 'New webhook' }).click();
      await page.locator('main tbody a').first().waitFor();
    }
    return first('/console/webhooks')(page);
  },
  '/console/webhooks/:id/deliveries/:delivery': async () => {
    const [{ webhookId }] = (await onboarding('GET', 'webhooks')).data;
    const { deliveryId } = await onboarding('POST', `webhooks/${webhookId}/test`, {});
    return [`/console/webhooks/${webhookId}/deliveries/${deliveryId}`];
  },
  '/store/orders/:id': first('/store/orders'),
  '/store/customers/:id': first('/store/customers'),
  '/store/products/:id': async (page) => [
    '/store/products/new',
    ...(await first('/store/products')(page)),
  ],
  '/users/:id': async (page) => ['/users/new', ...(await first('/users')(page))],
  '/store/coupons/:id': async (page) => [
    '/store/coupons/new',
    ...(await first('/store/coupons')(page)),
  ],
  '/store/settings/:group': async () =>
    (await call('GET', 'wc/v3/settings'))
      .filter((group) => !group.parent_id)
      .map((group) => `/store/settings/${group.id}`),
  '/plugins/:slug': async () => ['/plugins/letters'],
};

/** Views that lead elsewhere at once, or are there only for those who come from elsewhere. */
const PASSING = ['/', '/connect'];

export async function everyView(page) {
  const paths = found(await source('routes.ts'), /\{\s*path: '([^']+)',\s*load/g);
  assert.ok(paths.length > 20, 'the table of routes is read');
  const views = [];
  for (const path of paths.filter((one) => !PASSING.includes(one))) {
    if (!path.includes(':')) {
      views.push(path);
      continue;
    }
    assert.ok(EXAMPLES[path], `${path} has no example in tests/views.mjs`);
    views.push(...(await EXAMPLES[path](page)));
  }
  assert.ok(views.every(Boolean), `an example is missing: ${views}`);
  return views;
}
