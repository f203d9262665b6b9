// The pages of the portal and how its menu names them. A page is in the menu only for those who may
// see something there.
import type { Route } from './lib/router.svelte';
import { REPORTS } from './lib/analytics/reports';
import { allows, type Me } from './lib/session.svelte';
import { texts } from './lib/texts';

export const ROUTES: readonly Route[] = [
  { path: '/', load: () => import('./pages/Start.svelte') },
  { path: '/analytics', load: () => import('./pages/analytics/Overview.svelte') },
  { path: '/analytics/:report', load: () => import('./pages/analytics/Report.svelte') },
  { path: '/merchants', load: () => import('./pages/merchants/Merchants.svelte') },
  { path: '/merchants/new', load: () => import('./pages/merchants/Onboard.svelte') },
  { path: '/merchants/invitations', load: () => import('./pages/merchants/Links.svelte') },
  { path: '/merchants/invitations/:link', load: () => import('./pages/merchants/Link.svelte') },
  {
    path: '/merchants/invitations/:link/onboard',
    load: () => import('./pages/merchants/Onboard.svelte'),
  },
  { path: '/merchants/connected', load: () => import('./pages/merchants/Connections.svelte') },
  { path: '/merchants/connected/:id', load: () => import('./pages/merchants/Connection.svelte') },
  { path: '/merchants/portfolio', load: () => import('./pages/merchants/Portfolio.svelte') },
  { path: '/merchants/bulk', load: () => import('./pages/merchants/Bulk.svelte') },
  {
    path: '/merchants/:merchant/new-store',
    load: () => import('./pages/merchants/Onboard.svelte'),
  },
  {
    path: '/merchants/:merchant/stores/:store/new-terminal',
    load: () => import('./pages/merchants/Onboard.svelte'),
  },
  { path: '/merchants/:id/history', load: () => import('./pages/merchants/History.svelte') },
  { path: '/merchants/:id', load: () => import('./pages/merchants/Merchant.svelte') },
  { path: '/console/isos', load: () => import('./pages/console/Isos.svelte') },
  { path: '/console/isos/:id', load: () => import('./pages/console/Iso.svelte') },
  { path: '/console/keys', load: () => import('./pages/console/Keys.svelte') },
  { path: '/console/templates', load: () => import('./pages/console/Templates.svelte') },
  { path: '/console/templates/:name', load: () => import('./pages/console/Template.svelte') },
  { path: '/console/webhooks', load: () => import('./pages/console/Webhooks.svelte') },
  { path: '/console/webhooks/:id', load: () => import('./pages/console/Webhook.svelte') },
  {
    path: '/console/webhooks/:id/deliveries/:delivery',
    load: () => import('./pages/console/Delivery.svelte'),
  },
  { path: '/console/events', load: () => import('./pages/console/Events.svelte') },
  { path: '/console/audit', load: () => import('./pages/console/AuditLog.svelte') },
  { path: '/console/people', load: () => import('./pages/console/People.svelte') },
  {
    path: '/invitation',
    load: () => import('./pages/account/Invitation.svelte'),
    isOpen: true,
  },
  { path: '/apply', load: () => import('./pages/account/Apply.svelte'), isOpen: true },
  { path: '/register', load: () => import('./pages/account/Register.svelte'), isOpen: true },
  { path: '/account', load: () => import('./pages/account/Account.svelte') },
  { path: '/users', load: () => import('./pages/users/Users.svelte') },
  { path: '/users/privacy', load: () => import('./pages/users/Privacy.svelte') },
  { path: '/users/:id', load: () => import('./pages/users/User.svelte') },
  { path: '/reference', load: () => import('./pages/reference/Reference.svelte') },
  { path: '/store/orders', load: () => import('./pages/store/Orders.svelte') },
  { path: '/store/orders/new', load: () => import('./pages/store/NewOrder.svelte') },
  { path: '/store/orders/:id', load: () => import('./pages/store/Order.svelte') },
  { path: '/store/customers', load: () => import('./pages/store/Customers.svelte') },
  { path: '/store/customers/:id', load: () => import('./pages/store/Customer.svelte') },
  { path: '/store/products', load: () => import('./pages/store/Products.svelte') },
  { path: '/store/products/:id', load: () => import('./pages/store/Product.svelte') },
  { path: '/store/media', load: () => import('./pages/store/Media.svelte') },
  { path: '/store/coupons', load: () => import('./pages/store/Coupons.svelte') },
  { path: '/store/coupons/:id', load: () => import('./pages/store/Coupon.svelte') },
  { path: '/store/setup', load: () => import('./pages/store/Setup.svelte') },
  { path: '/store/plugins', load: () => import('./pages/store/Plugins.svelte') },
  { path: '/plugins', load: () => import('./pages/store/Plugins.svelte') },
  { path: '/plugins/:slug', load: () => import('./pages/store/Plugin.svelte') },
  { path: '/connect', load: () => import('./pages/store/Connect.svelte') },
  { path: '/store/themes', load: () => import('./pages/store/Themes.svelte') },
  { path: '/store/inbox', load: () => import('./pages/store/Inbox.svelte') },
  { path: '/store/settings', load: () => import('./pages/store/Settings.svelte') },
  { path: '/store/settings/:group', load: () => import('./pages/store/Settings.svelte') },
];

export interface Entry {
  label: string;
  /** A page of the portal … */
  path?: string;
  /** … or another one of the server. */
  href?: string;
  /** Another path below which its pages are. */
  also?: string;
  /** What the user needs for the page, if not all who see the section may see it. */
  scope?: string;
  /** Whether it is about the whole shop, and nothing for those who are bound to a merchant or a store. */
  isOfShop?: boolean;
}

export interface Section {
  label: string;
  /** The path of a drawing. */
  icon: string;
  isFor: (user: Me['user']) => boolean;
  entries: Entry[];
}

const may =
  (capability: string) =>
  (user: Me['user']): boolean =>
    user.capabilities.includes(capability);

/** People of an ISO, and those who administer all of them. */
const isOfIso = (user: Me['user']): boolean => user.scopes.length > 0;

/** Drawings on 24 by 24 points. */
export const ICONS = {
  analytics: 'M4 20V10m5 10V4m5 16v-7m5 7V7',
  store: 'M4 9h16l-1-5H5zm1 0v11h14V9M9 20v-6h6v6',
  merchants: 'M3 6h18v12H3zm0 4h18M6 15h4',
  isos: 'M12 3l8 3v6c0 4.5-3.2 7.6-8 9-4.8-1.4-8-4.5-8-9V6z',
  console: 'M4 5h16v14H4zm3 4l3 3-3 3m6 0h4',
  help: 'M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zm0 13a3 3 0 0 1 3-3h11',
};

export const MENU: readonly Section[] = [
  {
    label: texts.shell.sections.analytics,
    icon: ICONS.analytics,
    isFor: may('view_woocommerce_reports'),
    entries: [
      { label: texts.analytics.overview, path: '/analytics' },
      ...REPORTS.map(({ id, label }) => ({
        label,
        path: `/analytics/${id}`,
        isOfShop: id === 'stock',
      })),
    ],
  },
  {
    label: texts.shell.sections.store,
    icon: ICONS.store,
    isFor: may('manage_woocommerce'),
    entries: [
      { label: texts.store.setup.title, path: '/store/setup' },
      { label: texts.store.orders.title, path: '/store/orders' },
      { label: texts.store.customers.title, path: '/store/customers' },
      { label: texts.store.products.title, path: '/store/products' },
      { label: texts.store.media.title, path: '/store/media' },
      { label: texts.store.coupons.title, path: '/store/coupons' },
      { label: texts.store.inbox.title, path: '/store/inbox' },
      { label: texts.store.plugins.title, path: '/store/plugins', also: '/plugins' },
      { label: texts.store.themes.title, path: '/store/themes' },
      { label: texts.store.settings.title, path: '/store/settings' },
    ],
  },
  {
    label: texts.shell.sections.merchants,
    icon: ICONS.merchants,
    isFor: isOfIso,
    entries: [
      { label: texts.merchants.title, path: '/merchants', scope: 'merchants.read' },
      { label: texts.merchants.onboard.title, path: '/merchants/new', scope: 'onboard.write' },
      {
        label: texts.merchants.links.title,
        path: '/merchants/invitations',
        scope: 'merchants.read',
      },
      { label: texts.merchants.bulk.title, path: '/merchants/bulk', scope: 'bulk.write' },
      {
        label: texts.merchants.connections.title,
        path: '/merchants/connected',
        scope: 'stores.read',
      },
      {
        label: texts.merchants.portfolio.title,
        path: '/merchants/portfolio',
        scope: 'reports.read',
      },
    ],
  },
  {
    label: texts.shell.sections.isos,
    icon: ICONS.isos,
    isFor: may('manage_options'),
    entries: [
      { label: texts.console.isos.title, path: '/console/isos' },
      { label: texts.users.title, path: '/users' },
      { label: texts.users.privacy.title, path: '/users/privacy' },
    ],
  },
  {
    label: texts.shell.sections.console,
    icon: ICONS.console,
    isFor: isOfIso,
    entries: [
      { label: texts.console.keys.title, path: '/console/keys', scope: 'keys.read' },
      {
        label: texts.console.templates.title,
        path: '/console/templates',
        scope: 'templates.read',
      },
      { label: texts.console.webhooks.title, path: '/console/webhooks', scope: 'webhooks.read' },
      { label: texts.console.events.title, path: '/console/events', scope: 'events.read' },
      { label: texts.console.audit.title, path: '/console/audit', scope: 'audit.read' },
      { label: texts.console.people.title, path: '/console/people', scope: '*' },
    ],
  },
  {
    label: texts.shell.sections.help,
    icon: ICONS.help,
    isFor: () => true,
    entries: [
      { label: texts.shell.reference, path: '/reference' },
      { label: texts.shell.docs, href: '/docs' },
    ],
  },
];

/** The menu of a user: sections with the pages that they may see. */
export const menuOf = (user: Me['user']): Section[] =>
  MENU.filter((section) => section.isFor(user)).map((section) => ({
    ...section,
    entries: section.entries.filter(
      ({ scope, isOfShop }) =>
        (scope === undefined || allows(user, scope)) &&
        !(isOfShop && (user.merchant_id ?? user.store_id)),
    ),
  }));

/** The entry that a page belongs to: its own, or that of the list which it is below. */
export function entryOf(path: string): Entry | undefined {
  const fits = (entry: Entry): boolean =>
    [entry.path, entry.also].some(
      (own) => own !== undefined && (path === own || path.startsWith(`${own}/`)),
    );
  const found = MENU.flatMap((section) => section.entries).filter(fits);
  return found.sort((a, b) => (b.path?.length ?? 0) - (a.path?.length ?? 0))[0];
}
