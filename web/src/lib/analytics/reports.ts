// The reports, each a declaration: where its rows and its sums come from, what is drawn, what stands
// in the table. Filters and orders are not here: the server's own description of the route has them.
import type { Kind } from '../format';

export interface Measure {
  key: string;
  label: string;
  kind: Kind;
}

export interface Column extends Measure {
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

export interface Report {
  id: string;
  label: string;
  /** The route of the list; the table shows the intervals when there is none. */
  list?: string;
  /** Whether the list takes a range of days. */
  isDated: boolean;
  /** The route of sums over time. */
  stats?: string;
  measures: Measure[];
  columns: Column[];
  orderby?: string;
  order?: 'asc' | 'desc';
  hasDetails?: boolean;
}

const info = (row: Row): Row => (row.extended_info ?? {}) as Row;
const named = (row: Row): unknown => info(row).name;

const money = (key: string, label: string): Column => ({ key, label, kind: 'money', orderby: key });
const count = (key: string, label: string): Column => ({ key, label, kind: 'count', orderby: key });

const orderMeasures: Measure[] = [
  { key: 'orders_count', label: 'Orders', kind: 'count' },
  { key: 'net_revenue', label: 'Net sales', kind: 'money' },
  { key: 'avg_order_value', label: 'Average order value', kind: 'money' },
  { key: 'avg_items_per_order', label: 'Items per order', kind: 'average' },
];

const revenueMeasures: Measure[] = [
  { key: 'gross_sales', label: 'Gross sales', kind: 'money' },
  { key: 'refunds', label: 'Returns', kind: 'money' },
  { key: 'coupons', label: 'Coupons', kind: 'money' },
  { key: 'net_revenue', label: 'Net sales', kind: 'money' },
  { key: 'taxes', label: 'Taxes', kind: 'money' },
  { key: 'shipping', label: 'Shipping', kind: 'money' },
  { key: 'total_sales', label: 'Total sales', kind: 'money' },
];

/** The `orderby` of intervals; `date` for those measures that the server cannot sort by. */
const byInterval = (measure: Measure): Column => ({ ...measure, orderby: measure.key });

export const REPORTS: readonly Report[] = [
  {
    id: 'revenue',
    label: 'Revenue',
    isDated: true,
    stats: 'revenue/stats',
    measures: revenueMeasures,
    columns: [
      { key: 'date_start', label: 'Date', kind: 'date', orderby: 'date' },
      { key: 'orders_count', label: 'Orders', kind: 'count', orderby: 'orders_count' },
      ...revenueMeasures.map(byInterval),
    ],
  },
  {
    id: 'orders',
    label: 'Orders',
    list: 'orders',
    isDated: true,
    stats: 'orders/stats',
    hasDetails: true,
    measures: orderMeasures,
    columns: [
      { key: 'date', label: 'Date', kind: 'moment', orderby: 'date' },
      { key: 'order_number', label: 'Order', kind: 'text', link: (row) => `/store/orders/${String(row.parent_id || row.order_id)}` },
      { key: 'status', label: 'Status', kind: 'text', isState: true },
      { key: 'customer', label: 'Customer', kind: 'text', at: customerName },
      { key: 'customer_type', label: 'Customer type', kind: 'text' },
      { key: 'products', label: 'Products', kind: 'text', isLong: true, at: (row) => summary(info(row).products, 'name', 'quantity') },
      count('num_items_sold', 'Items'),
      { key: 'coupons', label: 'Coupons', kind: 'text', at: (row) => summary(info(row).coupons, 'code') },
      money('net_total', 'Net sales'),
    ],
  },
  {
    id: 'products',
    label: 'Products',
    list: 'products',
    isDated: true,
    stats: 'products/stats',
    hasDetails: true,
    orderby: 'items_sold',
    measures: [
      { key: 'items_sold', label: 'Items sold', kind: 'count' },
      { key: 'net_revenue', label: 'Net sales', kind: 'money' },
      { key: 'orders_count', label: 'Orders', kind: 'count' },
    ],
    columns: [
      { key: 'name', label: 'Product', kind: 'text', orderby: 'product_name', at: named, link: (row) => `/store/products/${String(row.product_id)}` },
      { key: 'sku', label: 'SKU', kind: 'text', orderby: 'sku', at: (row) => info(row).sku },
      count('items_sold', 'Items sold'),
      money('net_revenue', 'Net sales'),
      count('orders_count', 'Orders'),
      { key: 'stock_status', label: 'Stock', kind: 'text', isState: true, at: (row) => info(row).stock_status },
    ],
  },
  {
    id: 'variations',
    label: 'Variations',
    list: 'variations',
    isDated: true,
    stats: 'variations/stats',
    hasDetails: true,
    orderby: 'items_sold',
    measures: [
      { key: 'items_sold', label: 'Items sold', kind: 'count' },
      { key: 'net_revenue', label: 'Net sales', kind: 'money' },
      { key: 'orders_count', label: 'Orders', kind: 'count' },
    ],
    columns: [
      { key: 'name', label: 'Variation', kind: 'text', at: variationName, link: (row) => `/store/products/${String(row.product_id)}` },
      { key: 'sku', label: 'SKU', kind: 'text', orderby: 'sku', at: (row) => info(row).sku },
      count('items_sold', 'Items sold'),
      money('net_revenue', 'Net sales'),
      count('orders_count', 'Orders'),
    ],
  },
  {
    id: 'categories',
    label: 'Categories',
    list: 'categories',
    isDated: true,
    stats: 'products/stats',
    hasDetails: true,
    orderby: 'items_sold',
    measures: [
      { key: 'items_sold', label: 'Items sold', kind: 'count' },
      { key: 'net_revenue', label: 'Net sales', kind: 'money' },
      { key: 'orders_count', label: 'Orders', kind: 'count' },
    ],
    columns: [
      { key: 'name', label: 'Category', kind: 'text', orderby: 'category', at: named },
      count('items_sold', 'Items sold'),
      money('net_revenue', 'Net sales'),
      count('products_count', 'Products'),
      count('orders_count', 'Orders'),
    ],
  },
  {
    id: 'coupons',
    label: 'Coupons',
    list: 'coupons',
    isDated: true,
    stats: 'coupons/stats',
    hasDetails: true,
    orderby: 'orders_count',
    measures: [
      { key: 'orders_count', label: 'Discounted orders', kind: 'count' },
      { key: 'amount', label: 'Amount discounted', kind: 'money' },
    ],
    columns: [
      { key: 'code', label: 'Coupon', kind: 'text', orderby: 'code', at: (row) => info(row).code, link: (row) => `/store/coupons/${String(row.coupon_id)}` },
      count('orders_count', 'Orders'),
      money('amount', 'Amount discounted'),
      { key: 'created', label: 'Created', kind: 'date', at: (row) => info(row).date_created },
      { key: 'expires', label: 'Expires', kind: 'date', at: (row) => info(row).date_expires },
      { key: 'type', label: 'Type', kind: 'text', at: (row) => info(row).discount_type },
    ],
  },
  {
    id: 'taxes',
    label: 'Taxes',
    list: 'taxes',
    isDated: true,
    stats: 'taxes/stats',
    orderby: 'total_tax',
    measures: [
      { key: 'total_tax', label: 'Total tax', kind: 'money' },
      { key: 'order_tax', label: 'Order tax', kind: 'money' },
      { key: 'shipping_tax', label: 'Shipping tax', kind: 'money' },
      { key: 'orders_count', label: 'Orders', kind: 'count' },
    ],
    columns: [
      { key: 'name', label: 'Tax', kind: 'text', orderby: 'name', at: taxName },
      { key: 'tax_rate', label: 'Rate', kind: 'percent', orderby: 'rate' },
      money('total_tax', 'Total tax'),
      money('order_tax', 'Order tax'),
      money('shipping_tax', 'Shipping tax'),
      count('orders_count', 'Orders'),
    ],
  },
  {
    id: 'stock',
    label: 'Stock',
    list: 'stock',
    isDated: false,
    measures: [],
    orderby: 'stock_quantity',
    order: 'asc',
    columns: [
      { key: 'name', label: 'Product', kind: 'text', orderby: 'title', link: (row) => `/store/products/${String(row.parent_id || row.id)}` },
      { key: 'sku', label: 'SKU', kind: 'text', orderby: 'sku' },
      { key: 'stock_status', label: 'Status', kind: 'text', isState: true, orderby: 'stock_status' },
      { key: 'stock_quantity', label: 'In stock', kind: 'count', orderby: 'stock_quantity', at: (row) => (row.manage_stock ? row.stock_quantity : undefined) },
    ],
  },
  {
    id: 'downloads',
    label: 'Downloads',
    list: 'downloads',
    isDated: true,
    stats: 'downloads/stats',
    measures: [{ key: 'download_count', label: 'Downloads', kind: 'count' }],
    columns: [
      { key: 'date', label: 'Date', kind: 'moment', orderby: 'date' },
      { key: 'product', label: 'Product', kind: 'text', orderby: 'product', at: (row) => row.file_name, link: (row) => `/store/products/${String(row.product_id)}` },
      { key: 'order_number', label: 'Order', kind: 'text', link: (row) => `/store/orders/${String(row.order_id)}` },
      { key: 'username', label: 'User', kind: 'text' },
      { key: 'ip_address', label: 'Address', kind: 'text' },
    ],
  },
  {
    id: 'customers',
    label: 'Customers',
    list: 'customers',
    isDated: false,
    measures: [],
    orderby: 'total_spend',
    columns: [
      { key: 'name', label: 'Name', kind: 'text', orderby: 'name' },
      { key: 'username', label: 'Username', kind: 'text', orderby: 'username' },
      { key: 'email', label: 'E-mail', kind: 'text' },
      { key: 'date_last_active', label: 'Last active', kind: 'date', orderby: 'date_last_active' },
      { key: 'date_registered', label: 'Signed up', kind: 'date', orderby: 'date_registered' },
      count('orders_count', 'Orders'),
      money('total_spend', 'Total spend'),
      money('avg_order_value', 'Average order'),
      { key: 'country', label: 'Country', kind: 'text', orderby: 'country' },
      { key: 'city', label: 'City', kind: 'text', orderby: 'city' },
    ],
  },
];

export const report = (id: string): Report | undefined => REPORTS.find((candidate) => candidate.id === id);

export function cell(row: Row, column: Column): unknown {
  return column.at ? column.at(row) : row[column.key];
}

function customerName(row: Row): string {
  const customer = info(row).customer as Row | undefined;
  return [customer?.first_name, customer?.last_name].filter(Boolean).join(' ');
}

function variationName(row: Row): unknown {
  const options = ((info(row).attributes ?? []) as Row[]).map((attribute) => String(attribute.option));
  const name = String(named(row) ?? '');
  const missing = options.filter((option) => !name.includes(option));
  return missing.length ? `${name} – ${missing.join(', ')}` : name;
}

function taxName(row: Row): string {
  return [row.country, row.state === row.country ? '' : row.state, row.name].filter(Boolean).join(' · ');
}

/** The first of several things and how many more there are. */
function summary(value: unknown, key: string, amount?: string): string {
  const list = (Array.isArray(value) ? value : []) as Row[];
  const texts = list.map((item) => (amount ? `${String(item[amount])} × ` : '') + String(item[key]));
  return texts.length > 2 ? `${texts.slice(0, 2).join(', ')} + ${texts.length - 2}` : texts.join(', ');
}
