// The shop's records as the portal reads them: the generated types, and what the interface gives beyond its
// description, which is that of the product it follows.
import type * as generated from '../../lib/generated';

/** The same with some members as they really are. */
type With<T, Members> = Omit<T, keyof Members> & Members;

export type Line = With<generated.Order['line_items'][number], { name: string }>;
type CouponLine = With<generated.Order['coupon_lines'][number], { code: string }>;
export type Order = With<
  generated.Order,
  { date_created: string; date_paid: string | null; line_items: Line[]; coupon_lines: CouponLine[] }
>;
export type Address = With<Order['shipping'], { email?: string | null; phone?: string }>;
export type OrderNote = With<generated.OrderNote, { date_created: string }>;
export type Product = With<generated.Product, { stock_quantity: number | null }>;
export type Variation = With<generated.Variation, { stock_quantity: number | null }>;
export type Coupon = With<
  generated.Coupon,
  { date_expires: string | null; usage_limit: number | null }
>;
export type Note = With<generated.Note, { actions: { id: number; label: string; url: string }[] }>;
