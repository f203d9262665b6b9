// The shop's records as the portal reads them: the generated types, and what the interface gives beyond its
// description, which is that of the product it follows.
import type * as generated from '../../lib/generated';

/** The same with some members as they really are. */
type With<T, Members> = Omit<T, keyof Members> & Members;

export type Line = With<generated.Order['line_items'][number], { name: string }>;
type CouponLine = With<generated.Order['coupon_lines'][number], { code: string }>;
export type Order = With<
  generated.Order,
  {
    date_created: string;
    date_modified: string | null;
    date_paid: string | null;
    line_items: Line[];
    coupon_lines: CouponLine[];
  }
>;

/** The statuses into which people move orders; refunding is an action of its own. */
export const ORDER_STATUSES = [
  'pending',
  'processing',
  'on-hold',
  'completed',
  'cancelled',
  'failed',
] as const;

/** What is left of an order's total after its refunds, whose totals are below zero. */
export const netTotal = (order: Order): number =>
  order.refunds.reduce((sum, one) => sum + Number(one.total), Number(order.total));

export type Address = With<Order['shipping'], { email?: string | null; phone?: string }>;
export type OrderNote = With<generated.OrderNote, { date_created: string }>;
/** An attribute of a product: one of the shop when it has an id. */
export interface Attribute {
  id: number;
  name: string;
  position: number;
  visible: boolean;
  variation: boolean;
  options: string[];
}
export type Product = With<
  generated.Product,
  {
    date_created: string | null;
    stock_quantity: number | null;
    attributes: Attribute[];
    meta_data: { key: string; value: unknown }[];
  }
>;

/** The status in which a product left for the trash. */
export const statusBefore = (product: Product): string =>
  String(product.meta_data.find(({ key }) => key === '_wp_trash_meta_status')?.value ?? 'draft');
export type Variation = With<generated.Variation, { stock_quantity: number | null }>;
export type Coupon = With<
  generated.Coupon,
  { date_created: string | null; date_expires: string | null; usage_limit: number | null }
>;
/** A customer with an account. */
export interface Customer {
  id: number;
  date_created: string | null;
  email: string;
  first_name: string;
  last_name: string;
  username: string;
  billing: Address;
  shipping: Address;
  meta_data: { key: string; value: unknown }[];
}

/** A customer as reports know them, with an account or without. */
export interface ReportedCustomer {
  id: number;
  /** 0 for a guest. */
  user_id: number;
  username: string;
  name: string;
  email: string;
  country: string;
  city: string;
  state: string;
  date_registered: string | null;
  date_last_order: string | null;
  orders_count: number;
  total_spend: number;
  avg_order_value: number;
}

export interface CustomerNote {
  text: string;
  author: string;
  at: string;
}

export type Note = With<generated.Note, { actions: { id: number; label: string; url: string }[] }>;
