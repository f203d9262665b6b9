// The pages of the portal and how its menu names them. A page is in the menu only for those who may
// see something there.
import type { Route } from './lib/router.svelte';
import { REPORTS } from './lib/analytics/reports';
import { texts } from './lib/texts';

export const ROUTES: readonly Route[] = [
  { path: '/', load: () => import('./pages/Start.svelte') },
  { path: '/analytics', load: () => import('./pages/analytics/Overview.svelte') },
  { path: '/analytics/:report', load: () => import('./pages/analytics/Report.svelte') },
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
];
