// The pages of the portal and how its menu names them. A page is in the menu only for those who may
// see something there.
import type { Route } from './lib/router.svelte';
import { REPORTS } from './lib/analytics/reports';
import { texts } from './lib/texts';

export const ROUTES: readonly Route[] = [
  { path: '/', load: () => import('./pages/Start.svelte') },
  { path: '/analytics', load: () => import('./pages/analytics/Overview.svelte') },
  { path: '/analytics/:report', load: () => import('./pages/analytics/Report.svelte') },
  { path: '/reference', load: () => import('./pages/reference/Reference.svelte') },
  { path: '/store/orders', load: () => import('./pages/store/Orders.svelte') },
  { path: '/store/orders/:id', load: () => import('./pages/store/Order.svelte') },
  { path: '/store/products', load: () => import('./pages/store/Products.svelte') },
  { path: '/store/products/:id', load: () => import('./pages/store/Product.svelte') },
  { path: '/store/coupons', load: () => import('./pages/store/Coupons.svelte') },
  { path: '/store/coupons/:id', load: () => import('./pages/store/Coupon.svelte') },
  { path: '/store/inbox', load: () => import('./pages/store/Inbox.svelte') },
  { path: '/store/settings', load: () => import('./pages/store/Settings.svelte') },
  { path: '/store/settings/:group', load: () => import('./pages/store/Settings.svelte') },
];

export interface Entry {
  label: string;
  path: string;
}

export interface Section {
  label: string;
  /** Any of these rights shows the section. */
  rights: string[];
  entries: Entry[];
}

export const MENU: readonly Section[] = [
  {
    label: texts.shell.sections.analytics,
    rights: ['view_woocommerce_reports'],
    entries: [
      { label: texts.analytics.overview, path: '/analytics' },
      ...REPORTS.map((report) => ({ label: report.label, path: `/analytics/${report.id}` })),
    ],
  },
  {
    label: texts.shell.sections.store,
    rights: ['manage_woocommerce'],
    entries: [
      { label: texts.store.orders.title, path: '/store/orders' },
      { label: texts.store.products.title, path: '/store/products' },
      { label: texts.store.coupons.title, path: '/store/coupons' },
      { label: texts.store.inbox.title, path: '/store/inbox' },
      { label: texts.store.settings.title, path: '/store/settings' },
    ],
  },
];
