// Every text that the portal shows, in English. Another language is another folder of this shape.
import { account, invitation, register, users } from './account';
import { analytics, filters, range, reports } from './analytics';
import { common } from './common';
import { console } from './console';
import { fields } from './fields';
import { merchants } from './merchants';
import { reference } from './reference';
import { store } from './store';

export const texts = {
  ...common,
  fields,
  range,
  filters,
  analytics,
  reports,
  merchants,
  console,
  account,
  users,
  invitation,
  register,
  reference,
  store,
};

export type Texts = typeof texts;
