// What an order comes to before it is made: the server works it out as for a buyer, in a cart that belongs
// to nobody. Nothing is stored but that cart, which ends by itself.
import { ApiError, rest, type Json } from './api';

export interface QuoteRequest {
  items: { id: number; quantity: number }[];
  coupons: string[];
  billing: Record<string, Json>;
  shipping: Record<string, Json>;
  /** The way of shipping that was chosen; without it, the server's first. */
  rate?: string | undefined;
}

export interface Rate {
  id: string;
  method: string;
  instance: string;
  name: string;
  price: number;
}

export interface Quote {
  items: number;
  discount: number;
  shipping: number;
  tax: number;
  /** The part of the tax that is on shipping. */
  shippingTax: number;
  total: number;
  rates: Rate[];
  rate: string | undefined;
  /** What the server refused, by the coupon's code or the item's id. */
  refused: Record<string, string>;
}

interface Totals {
  total_items: string;
  total_discount: string;
  total_shipping: string | null;
  total_shipping_tax: string | null;
  total_tax: string;
  total_price: string;
  currency_minor_unit: number;
}

interface Cart {
  totals: Totals;
  shipping_rates: {
    package_id: number;
    shipping_rates: {
      rate_id: string;
      method_id: string;
      instance_id: number;
      name: string;
      price: string;
      selected: boolean;
    }[];
  }[];
}

interface Answered {
  status: number;
  body: Cart & { message?: string };
}

const STORE = '/wc/store/v1/';
let token = '';

/** Without cookies: the cart is not that of who is signed in. */
async function ask(path: string, method: string, body?: Json, signal?: AbortSignal) {
  const answer = await fetch(rest(STORE.slice(1) + path), {
    method,
    credentials: 'omit',
    headers: {
      'Content-Type': 'application/json',
      ...(token ? { 'Cart-Token': token } : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  token = answer.headers.get('Cart-Token') ?? token;
  const read = (await answer.json()) as unknown;
  if (!answer.ok) {
    const { code, message } = read as { code?: string; message?: string };
    throw new ApiError(answer.status, code ?? 'refused', message ?? '');
  }
  return read;
}

export async function quote(wanted: QuoteRequest, signal?: AbortSignal): Promise<Quote> {
  if (!token) await ask('cart', 'GET', undefined, signal);
  const request = (path: string, body: Json, method = 'POST'): Json => ({
    path: STORE + path,
    method,
    body,
    headers: { 'Cart-Token': token },
  });
  const named = [
    ...wanted.items.map(({ id, quantity }): [string, Json] => [
      String(id),
      request('cart/add-item', { id, quantity }),
    ]),
    ...wanted.coupons.map((code): [string, Json] => [code, request('cart/apply-coupon', { code })]),
  ];
  const last = request('cart/update-customer', {
    billing_address: wanted.billing,
    shipping_address: wanted.shipping,
  });
  const before = [request('cart/items', {}, 'DELETE'), request('cart/coupons', {}, 'DELETE')];
  // The buyer comes first, since coupons may be for some buyers alone, and again at the end.
  const chosen = wanted.rate
    ? [request('cart/select-shipping-rate', { package_id: 0, rate_id: wanted.rate })]
    : [];
  const all = [...before, last, ...named.map(([, one]) => one), ...chosen, last];
  const { responses } = (await ask('batch', 'POST', { requests: all }, signal)) as {
    responses: Answered[];
  };
  const refused: Record<string, string> = {};
  for (const [index, [name]] of named.entries()) {
    const answer = responses[before.length + 1 + index];
    if (answer && answer.status >= 400) refused[name] = answer.body.message ?? '';
  }
  const final = responses.at(-1);
  if (!final || final.status >= 400)
    throw new ApiError(final?.status ?? 0, 'refused', final?.body.message ?? '');
  return read(final.body, refused);
}

function read(cart: Cart, refused: Record<string, string>): Quote {
  const { totals } = cart;
  const amount = (minor: string | null): number =>
    Number(minor ?? 0) / 10 ** totals.currency_minor_unit;
  const rates = cart.shipping_rates[0]?.shipping_rates ?? [];
  return {
    items: amount(totals.total_items),
    discount: amount(totals.total_discount),
    shipping: amount(totals.total_shipping),
    shippingTax: amount(totals.total_shipping_tax),
    tax: amount(totals.total_tax),
    total: amount(totals.total_price),
    rates: rates.map((rate) => ({
      id: rate.rate_id,
      method: rate.method_id,
      instance: String(rate.instance_id),
      name: rate.name,
      price: amount(rate.price),
    })),
    rate: rates.find((rate) => rate.selected)?.rate_id,
    refused,
  };
}
