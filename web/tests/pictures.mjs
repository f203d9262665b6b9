// Takes the pictures that the documents show: `cargo xtask portal --screenshots`. No test run changes
// them.
import { join } from 'node:path';
import { open, openBrowser, reportsAreFull, signIn, startServer, world } from './support.mjs';

const ORDERS = 12_000;
const DESK = { viewport: { width: 1280, height: 860 } };
const PICTURES = [
  ['portal-overview', '/analytics?period=last_month', DESK],
  [
    'portal-orders',
    '/analytics/orders?period=quarter&f.status_is=completed&segmentby=customer_type',
    { ...DESK, colorScheme: 'dark' },
  ],
  ['portal-onboarding', '/merchants/new', DESK],
  [
    'portal-phone',
    '/analytics?period=last_month',
    { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1 },
  ],
];

world.server = await startServer({ orders: ORDERS });
await reportsAreFull(ORDERS);
world.browser = await openBrowser();
try {
  for (const [name, path, options] of PICTURES) {
    const context = await world.browser.newContext(options);
    const page = await context.newPage();
    await signIn(page);
    await open(page, path);
    if (path === '/merchants/new') {
      for (const [field, value] of [
        ['dba', 'Harbor Cafe'],
        ['firstName', 'Maria'],
        ['email', 'maria@harbor.example'],
        ['addressLine1', '12 Pier Road'],
        ['zipCode', '10001'],
        ['phoneNumber', '212'],
      ]) {
        await page.fill(`[id="merchantData.${field}"]`, value);
      }
      await page.getByText('New York, NY').waitFor();
    }
    await page.screenshot({
      path: join(process.env.PICTURES, `${name}.png`),
      animations: 'disabled',
    });
    await context.close();
  }
} finally {
  await world.browser.close();
  await world.server.stop();
}
