// Fields that hold the id of a merchant or a store, which people find by the trading name.
import { plainField, type Field } from './fields';
import type { Merchant, Store } from './generated';
import { get, type Listed } from './iso.svelte';

/** How many of those whose name begins as typed are offered. */
const OFFERED_MAX = 10;

const found =
  <T extends { dba: string; city: string }>(path: string, id: (one: T) => string) =>
  async (dba: string) => {
    const page = await get<Listed<T>>(path, { limit: OFFERED_MAX, ...(dba ? { dba } : {}) });
    return page.data.map((one) => ({ id: id(one), name: `${one.dba}, ${one.city}` }));
  };

export const merchantField = (label: string, more: Partial<Field> = {}): Field =>
  plainField('merchantId', label, {
    kind: 'record',
    find: found<Merchant>('merchants', (one) => one.merchantId),
    ...more,
  });

export const storeField = (label: string, more: Partial<Field> = {}): Field =>
  plainField('storeId', label, {
    kind: 'record',
    find: found<Store>('stores', (one) => one.storeId),
    ...more,
  });
