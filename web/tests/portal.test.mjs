// A walk through the portal as people use it, in a real browser, against a real server: every part
// has a file in `walks`.
import { after, before } from 'node:test';
import { openBrowser, reportsAreFull, startServer, world } from './support.mjs';

before(async () => {
  world.orders = Number(process.env.BOARDWALK_ORDERS ?? 3000);
  world.server = await startServer({ orders: world.orders });
  await reportsAreFull(world.orders);
  world.browser = await openBrowser();
});
after(async () => {
  await world.browser?.close();
  await world.server?.stop();
});

await import('./walks/signing-in.mjs');
await import('./walks/views.mjs');
await import('./walks/states.mjs');
await import('./walks/environments.mjs');
await import('./walks/analytics.mjs');
await import('./walks/store.mjs');
await import('./walks/products.mjs');
await import('./walks/settings.mjs');
await import('./walks/lists.mjs');
await import('./walks/customers.mjs');
await import('./walks/everywhere.mjs');
await import('./walks/shop.mjs');
await import('./walks/media.mjs');
await import('./walks/packages.mjs');
await import('./walks/merchants.mjs');
await import('./walks/history.mjs');
await import('./walks/invitations.mjs');
await import('./walks/connections.mjs');
await import('./walks/console.mjs');
await import('./walks/isos.mjs');
await import('./walks/rollouts.mjs');
await import('./walks/webhooks.mjs');
await import('./walks/account.mjs');
await import('./walks/users.mjs');
await import('./walks/people.mjs');
await import('./walks/security.mjs');
await import('./walks/reference.mjs');
await import('./walks/speed.mjs');
