// What plugins and themes have in common, and where each kind is asked for.
import type { Json } from '../../lib/api';

export interface Package {
  slug: string;
  name: string;
  description: string;
  author: string;
  version: string;
  installed_version?: string | null;
  signed_by?: string | null;
  status: 'available' | 'installed' | 'active';
}

export interface PackageCalls {
  list: string;
  upload: string;
  install: string;
  activate: string;
  deactivate: (slug: string) => string;
  body: (slug: string) => Json;
}

export interface Plugin extends Package {
  icon: string | null;
  documentation: string | null;
  contributes: Record<string, number>;
}

export const PLUGINS: PackageCalls = {
  list: 'boardwalk/v1/plugins',
  upload: 'boardwalk/v1/plugins',
  install: 'wc-admin/plugins/install',
  activate: 'wc-admin/plugins/activate',
  deactivate: (slug) => `boardwalk/v1/plugins/${slug}/deactivate`,
  body: (slug) => ({ plugins: slug }),
};

export interface Theme extends Package {
  colours: Record<string, string>;
  warnings: string[];
}

export const THEMES: PackageCalls = {
  list: 'boardwalk/v1/themes',
  upload: 'wc-admin/themes',
  install: 'wc-admin/onboarding/themes/install',
  activate: 'wc-admin/onboarding/themes/activate',
  deactivate: () => 'boardwalk/v1/themes/deactivate',
  body: (slug) => ({ theme: slug }),
};
