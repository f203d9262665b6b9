// The reports, each a declaration: where its rows and its sums come from, what is drawn, what stands
// in the table. Filters and orders are not here: the server's own description of the route has them;
// nor is what anything is called, which the texts have.
import { customerPage } from '../customers';
import type { Kind } from '../format';
import { texts } from '../texts';

/** A figure of a report as it is declared; `label` is what the texts call it. */
interface Declared {
  key: string;
  kind: Kind;
}

export interface Measure extends Declared {
  label: string;
}

/** A column of a table. */
interface Place extends Declared {
  /** The `orderby` value that sorts by it, where the server can. */
  orderby?: string;
  /** Where in a row it is, when not at its key. */
  at?: (row: Row) => unknown;
  /** Whether it is a state, to be shown as one. */
  isState?: boolean;
  /** Whether it is a list of words that needs room. */
  isLong?: boolean;
  /** A page of the portal about what the cell names. */
  link?: (row: Row) => string | undefined;
}

export type Row = Record<string, unknown>;

export type Column = Place & Measure;

interface Declaration {
  id: string;
  /** The route of the list; the table shows the intervals when there is none. */
  list?: string;
  /** Whether the list takes a range of days. */
  isDated: boolean;
  /** The route of sums over time. */
  stats?: string;
  measures: Declared[];
  columns: Place[];
  orderby?: string;
  order?: 'asc' | 'desc';
  hasDetails?: boolean;
  /** What a row is about, and the parameter that asks for some of them: rows of two ranges are compared. */
  rowId?: { key: string; param: string };
}

export interface Report extends Declaration {
  label: string;
  measures: Measure[];
  columns: Column[];
}

const info = (row: Row): Row => (row.extended_info ?? {}) as Row;
const nameOf = (row: Row): unknown => info(row).name;

const money = (key: string): Place => ({ key, kind: 'money', orderby: key });
const count = (key: string): Place => ({ key, kind: 'count', orderby: key });

const orderMeasures: Declared[] = [
  { key: 'orders_count', kind: 'count' },
  { key: 'net_revenue', kind: 'money' },
  { key: 'avg_order_value', kind: 'money' },
  { key: 'avg_items_per_order', kind: 'average' },
];

const revenueMeasures: Declared[] = [
  { key: 'gross_sales', kind: 'money' },
  { key: 'refunds', kind: 'money' },
  { key: 'coupons', kind: 'money' },
  { key: 'net_revenue', kind: 'money' },
  { key: 'taxes', kind: 'money' },
  { key: 'shipping', kind: 'money' },
  { key: 'total_sales', kind: 'money' },
];

/** The `orderby` of intervals; `date` for those measures that the server cannot sort by. */
const byInterval = (measure: Declared): Place => ({ ...measure, orderby: measure.key });

const DECLARED: readonly Declaration[] = [
  {
    id: 'revenue',
    isDated: true,
    stats: 'revenue/stats',
    measures: revenueMeasures,
    columns: [
      { key: 'date_start', kind: 'date', orderby: 'date' },
      { key: 'orders_count', kind: 'count', orderby: 'orders_count' },
      ...revenueMeasures.map(byInterval),
    ],
  },
  {
    id: 'orders',
    list: 'orders',
    isDated: true,
    stats: 'orders/stats',
    hasDetails: true,
    measures: orderMeasures,
    columns: [
      { key: 'date', kind: 'moment', orderby: 'date' },
      {
        key: 'order_number',
        kind: 'text',
        link: (row) => `/store/orders/${String(row.parent_id || row.order_id)}`,
      },
      { key: 'status', kind: 'text', isState: true },
      { key: 'customer', kind: 'text', at: customerName, link: customerLink },
      {
        key: 'products',
        kind: 'text',
        isLong: true,
        at: (row) => summary(info(row).products, 'name', 'quantity'),
      },
      count('num_items_sold'),
      money('net_total'),
      { key: 'customer_type', kind: 'text' },
      { key: 'coupons', kind: 'text', at: (row) => summary(info(row).coupons, 'code') },
    ],
  },
  {
    id: 'products',
    list: 'products',
    rowId: { key: 'product_id', param: 'products' },
    isDated: true,
    stats: 'products/stats',
    hasDetails: true,
    orderby: 'items_sold',
    measures: [
      { key: 'items_sold', kind: 'count' },
      { key: 'net_revenue', kind: 'money' },
      { key: 'orders_count', kind: 'count' },
    ],
    columns: [
      {
        key: 'name',
        kind: 'text',
        orderby: 'product_name',
        at: nameOf,
        link: (row) => `/store/products/${String(row.product_id)}`,
      },
      { key: 'sku', kind: 'text', orderby: 'sku', at: (row) => info(row).sku },
      count('items_sold'),
      money('net_revenue'),
      count('orders_count'),
      { key: 'stock_status', kind: 'text', isState: true, at: (row) => info(row).stock_status },
    ],
  },
  {
    id: 'variations',
    list: 'variations',
    rowId: { key: 'variation_id', param: 'variations' },
    isDated: true,
    stats: 'variations/stats',
    hasDetails: true,
    orderby: 'items_sold',
    measures: [
      { key: 'items_sold', kind: 'count' },
      { key: 'net_revenue', kind: 'money' },
      { key: 'orders_count', kind: 'count' },
    ],
    columns: [
      {
        key: 'name',
        kind: 'text',
        at: variationName,
        link: (row) => `/store/products/${String(row.product_id)}`,
      },
      { key: 'sku', kind: 'text', orderby: 'sku', at: (row) => info(row).sku },
      count('items_sold'),
      money('net_revenue'),
      count('orders_count'),
    ],
  },
  {
    id: 'categories',
    list: 'categories',
    rowId: { key: 'category_id', param: 'categories' },
    isDated: true,
    stats: 'products/stats',
    hasDetails: true,
    orderby: 'items_sold',
    measures: [
      { key: 'items_sold', kind: 'count' },
      { key: 'net_revenue', kind: 'money' },
      { key: 'orders_count', kind: 'count' },
    ],
    columns: [
      { key: 'name', kind: 'text', orderby: 'category', at: nameOf },
      count('items_sold'),
      money('net_revenue'),
      count('products_count'),
      count('orders_count'),
    ],
  },
  {
    id: 'coupons',
    list: 'coupons',
    rowId: { key: 'coupon_id', param: 'coupons' },
    isDated: true,
    stats: 'coupons/stats',
    hasDetails: true,
    orderby: 'orders_count',
    measures: [
      { key: 'orders_count', kind: 'count' },
      { key: 'amount', kind: 'money' },
    ],
    columns: [
      {
        key: 'code',
        kind: 'text',
        orderby: 'code',
        at: (row) => info(row).code,
        link: (row) => `/store/coupons/${String(row.coupon_id)}`,
      },
      count('orders_count'),
      money('amount'),
      { key: 'created', kind: 'date', at: (row) => info(row).date_created },
      { key: 'expires', kind: 'date', at: (row) => info(row).date_expires },
      {
        key: 'type',
        kind: 'text',
        at: (row) =>
          texts.fields.options[String(info(row).discount_type)] ?? info(row).discount_type,
      },
    ],
  },
  {
    id: 'taxes',
    list: 'taxes',
    rowId: { key: 'tax_rate_id', param: 'taxes' },
    isDated: true,
    stats: 'taxes/stats',
    orderby: 'total_tax',
    measures: [
      { key: 'total_tax', kind: 'money' },
      { key: 'order_tax', kind: 'money' },
      { key: 'shipping_tax', kind: 'money' },
      { key: 'orders_count', kind: 'count' },
    ],
    columns: [
      { key: 'name', kind: 'text', orderby: 'name', at: taxName },
      { key: 'tax_rate', kind: 'percent', orderby: 'rate' },
      money('total_tax'),
      money('order_tax'),
      money('shipping_tax'),
      count('orders_count'),
    ],
  },
  {
    id: 'stock',
    list: 'stock',
    isDated: false,
    measures: [],
    // What is sold out comes first.
    orderby: 'stock_status',
    order: 'desc',
    columns: [
      {
        key: 'name',
        kind: 'text',
        orderby: 'title',
        link: (row) => `/store/products/${String(row.parent_id || row.id)}`,
      },
      { key: 'sku', kind: 'text', orderby: 'sku' },
      { key: 'stock_status', kind: 'text', isState: true, orderby: 'stock_status' },
      {
        key: 'stock_quantity',
        kind: 'count',
        orderby: 'stock_quantity',
        at: (row) => (row.manage_stock ? row.stock_quantity : undefined),
      },
    ],
  },
  {
    id: 'downloads',
    list: 'downloads',
    isDated: true,
    stats: 'downloads/stats',
    measures: [{ key: 'download_count', kind: 'count' }],
    columns: [
      { key: 'date', kind: 'moment', orderby: 'date' },
      {
        key: 'product',
        kind: 'text',
        orderby: 'product',
        at: (row) => row.file_name,
        link: (row) => `/store/products/${String(row.product_id)}`,
      },
      { key: 'order_number', kind: 'text', link: (row) => `/store/orders/${String(row.order_id)}` },
      { key: 'username', kind: 'text' },
      { key: 'ip_address', kind: 'text' },
    ],
  },
  {
    id: 'customers',
    list: 'customers',
    isDated: false,
    measures: [],
    orderby: 'total_spend',
    columns: [
      {
        key: 'name',
        kind: 'text',
        orderby: 'name',
        link: (row) => customerPage(Number(row.user_id), String(row.email ?? '')),
      },
      { key: 'username', kind: 'text', orderby: 'username' },
      { key: 'email', kind: 'text' },
      { key: 'date_last_active', kind: 'date', orderby: 'date_last_active' },
      { key: 'date_registered', kind: 'date', orderby: 'date_registered' },
      count('orders_count'),
      money('total_spend'),
      money('avg_order_value'),
      { key: 'country', kind: 'text', orderby: 'country' },
      { key: 'city', kind: 'text', orderby: 'city' },
    ],
  },
];

/** What a figure is called: in one report, or in all. */
export const called = (id: string, key: string): string =>
  texts.reports.within[id]?.[key] ?? texts.reports.figures[key] ?? key;

export const REPORTS: readonly Report[] = DECLARED.map((one) => {
  const named = <T extends Declared>(figure: T): T & Measure => ({
    ...figure,
    label: called(one.id, figure.key),
  });
  return {
    ...one,
    label: texts.reports.titles[one.id] ?? one.id,
    measures: one.measures.map(named),
    columns: one.columns.map(named),
  };
});

export const report = (id: string): Report | undefined =>
  REPORTS.find((candidate) => candidate.id === id);

/** Figures can be compared; rates and texts cannot. */
export const isComparable = (column: Column): boolean =>
  ['money', 'count', 'average'].includes(column.kind);

export function cell(row: Row, column: Column): unknown {
  return column.at ? column.at(row) : row[column.key];
}

function customerName(row: Row): string {
  const customer = info(row).customer as Row | undefined;
  return [customer?.first_name, customer?.last_name].filter(Boolean).join(' ');
}

function customerLink(row: Row): string | undefined {
  const customer = info(row).customer as Row | undefined;
  return customer && customerPage(Number(customer.user_id), String(customer.email ?? ''));
}

function variationName(row: Row): unknown {
  const options = ((info(row).attributes ?? []) as Row[]).map((attribute) =>
    String(attribute.option),
  );
  const name = String(nameOf(row) ?? '');
  const missing = options.filter((option) => !name.includes(option));
  return missing.length ? `${name} – ${missing.join(', ')}` : name;
}

function taxName(row: Row): string {
  return [row.country, row.state === row.country ? '' : row.state, row.name]
    .filter(Boolean)
    .join(' · ');
}

/** The first of several things and how many more there are. */
function summary(value: unknown, key: string, amount?: string): string {
  const list = (Array.isArray(value) ? value : []) as Row[];
  const parts = list.map(
    (item) => (amount ? `${String(item[amount])} × ` : '') + String(item[key]),
  );
  return parts.length > 2
    ? `${parts.slice(0, 2).join(', ')} + ${parts.length - 2}`
    : parts.join(', ');
}
