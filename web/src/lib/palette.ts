// What the palette finds: pages of the portal, and records by what people know of them.
import { get, rest } from './api';
import { customerPage } from './customers';
import type { Merchant, Tpn } from './generated';
import * as onboarding from './iso.svelte';
import { money } from './format';
import { session } from './session.svelte';
import { texts } from './texts';
import { menuOf } from '../routes';

export interface Hit {
  label: string;
  /** What kind of thing it is, or more about it. */
  hint: string;
  path: string;
}

type Search = (text: string, signal: AbortSignal) => Promise<Hit[]>;

const t = texts.palette;
const FEW = 5;

/** Pages whose name or section contains every word. */
export function pages(text: string): Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const user = session.me?.user;
  const all = (user ? menuOf(user) : []).flatMap((section) =>
    section.entries.flatMap(({ label, path }) =>
      path ? [{ label, hint: section.label, path }] : [],
    ),
  );
  const made: Hit[] = session.may('manage_woocommerce')
    ? [
        { label: texts.store.newOrder.title, hint: t.action, path: '/store/orders/new' },
        { label: texts.store.products.create, hint: t.action, path: '/store/products/new' },
        { label: texts.store.coupons.create, hint: t.action, path: '/store/coupons/new' },
      ]
    : [];
  return [...made, ...all, { label: texts.shell.account, hint: '', path: '/account' }].filter(
    (hit) => words.every((word) => `${hit.label} ${hit.hint}`.toLowerCase().includes(word)),
  );
}

interface FoundOrder {
  id: number;
  number: string;
  total: string;
  billing: { first_name: string; last_name: string };
}
const ORDER_FIELDS = 'id,number,total,billing';
const orderHit = (order: FoundOrder): Hit => ({
  label: texts.store.orders.one(order.number),
  hint: [
    `${order.billing.first_name} ${order.billing.last_name}`.trim(),
    money(Number(order.total)),
  ]
    .filter(Boolean)
    .join(' · '),
  path: `/store/orders/${order.id}`,
});

const orders: Search = async (text, signal) => {
  const number = /^#?(\d+)$/.exec(text)?.[1];
  const query = number ? { number } : text.includes('@') ? { search: text } : undefined;
  if (!query) return [];
  const found = await get<FoundOrder[]>(
    rest('wc/v3/orders'),
    { ...query, per_page: FEW, _fields: ORDER_FIELDS },
    signal,
  );
  return found.map(orderHit);
};

const customers: Search = async (text, signal) => {
  if (text.startsWith('#')) return [];
  const found = await get<{ user_id: number; name: string; email: string }[]>(
    rest('wc-analytics/reports/customers'),
    { search: text, searchby: 'all', orderby: 'total_spend', per_page: FEW },
    signal,
  );
  return found.flatMap(({ user_id, name, email }) => {
    const path = customerPage(user_id, email);
    return path ? [{ label: name.trim() || email, hint: `${t.customer} · ${email}`, path }] : [];
  });
};

const products: Search = async (text, signal) => {
  if (text.startsWith('#') || text.includes('@')) return [];
  const found = await get<{ id: number; name: string; sku: string }[]>(
    rest('wc/v3/products'),
    { search: text, per_page: FEW, _fields: 'id,name,sku' },
    signal,
  );
  return found.map(({ id, name, sku }) => ({
    label: name,
    hint: [t.product, sku].filter(Boolean).join(' · '),
    path: `/store/products/${id}`,
  }));
};

const merchants: Search = async (text, signal) => {
  if (text.startsWith('#')) return [];
  const query = text.includes('@') ? { email: text } : { dba: text };
  const found = await onboarding.get<onboarding.Listed<Merchant>>(
    'merchants',
    { ...query, limit: FEW },
    signal,
  );
  return found.data.map(({ merchantId, dba, city }) => ({
    label: dba,
    hint: [t.merchant, city].filter(Boolean).join(' · '),
    path: `/merchants/${merchantId}`,
  }));
};

/** The form of a terminal's number, which is asked for as a whole. */
const TPN = /^\d{12}$/;
const terminals: Search = async (text, signal) => {
  if (!TPN.test(text)) return [];
  const { tpn, merchantId } = await onboarding.get<Tpn>(`tpns/${text}`, {}, signal);
  return merchantId ? [{ label: tpn, hint: t.terminal, path: `/merchants/${merchantId}` }] : [];
};

/** Every search that the user may make; what fails finds nothing. */
export async function search(
  text: string,
  signal: AbortSignal,
  onfound: (rank: number, hits: Hit[]) => void,
): Promise<void> {
  const mayShop = session.may('manage_woocommerce');
  const mayOnboard = Boolean(session.me?.user.scopes.length);
  // What is meant most likely comes first.
  const shop = /^#?\d+$/.test(text) ? [orders, customers, products] : [customers, orders, products];
  const all = [...(mayOnboard ? [terminals] : []), ...(mayShop ? shop : [])];
  if (mayOnboard) all.splice(2, 0, merchants);
  await Promise.all(
    all.map((one, rank) =>
      one(text, signal).then(
        (hits) => !signal.aborted && onfound(rank, hits),
        () => undefined,
      ),
    ),
  );
}
