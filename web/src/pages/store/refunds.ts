// What of an order was refunded, line by line, and what a further refund comes to. The last units of a line
// give back what is left of it, so that rounded parts never add up to more or less than the whole.
import type { Json } from '../../lib/api';
import type { Order } from './types';

interface Tax {
  id: number;
  total: string;
}

interface Part {
  id: number;
  total: string;
  taxes: Tax[];
  quantity?: number;
}

/** A refund as the interface lists it: its figures are below zero. */
export interface RefundRecord {
  id: number;
  line_items: RefundedPart[];
  shipping_lines: RefundedPart[];
  fee_lines: RefundedPart[];
}
type RefundedPart = Part & { meta_data: { key: string; value: unknown }[] };

export interface Sum {
  quantity: number;
  total: number;
  taxes: Record<number, number>;
}

const KINDS = ['line_items', 'shipping_lines', 'fee_lines'] as const;
export type PartKind = (typeof KINDS)[number];

const NOTHING: Sum = { quantity: 0, total: 0, taxes: {} };
const REFUNDED_LINE = '_refunded_item_id';

/** What was given back of each line, by the line's id. */
export function refundedParts(refunds: readonly RefundRecord[]): Record<number, Sum> {
  const sums: Record<number, Sum> = {};
  for (const refund of refunds) {
    for (const part of KINDS.flatMap((kind) => refund[kind])) {
      const id = Number(part.meta_data.find((entry) => entry.key === REFUNDED_LINE)?.value ?? 0);
      const sum = (sums[id] ??= { quantity: 0, total: 0, taxes: {} });
      sum.quantity -= part.quantity ?? 0;
      sum.total -= Number(part.total);
      for (const tax of part.taxes)
        sum.taxes[tax.id] = (sum.taxes[tax.id] ?? 0) - Number(tax.total);
    }
  }
  return sums;
}

export const taxOf = (sum: Sum | undefined): number =>
  Object.values(sum?.taxes ?? {}).reduce((all, tax) => all + tax, 0);

/** A line of the order, and what of it can still be given back. */
export interface Refundable {
  kind: PartKind;
  id: number;
  name: string;
  /** Units that were bought; nothing for what is not counted. */
  bought: number | undefined;
  /** What is left. */
  left: Sum;
}

export function refundables(order: Order, done: Record<number, Sum>): Refundable[] {
  const of = (kind: PartKind, part: Part, name: string): Refundable => {
    const before = done[part.id] ?? NOTHING;
    const taxes = part.taxes.map((tax): [number, number] => [
      tax.id,
      Number(tax.total) - (before.taxes[tax.id] ?? 0),
    ]);
    return {
      kind,
      id: part.id,
      name,
      bought: part.quantity,
      left: {
        quantity: (part.quantity ?? 0) - before.quantity,
        total: Number(part.total) - before.total,
        taxes: Object.fromEntries(taxes),
      },
    };
  };
  const part = (line: unknown): Part => line as Part;
  return [
    ...order.line_items.map((line) => of('line_items', part(line), line.name)),
    ...order.fee_lines.map((line) => of('fee_lines', part(line), String(line.name ?? ''))),
    ...order.shipping_lines.map((line) =>
      of('shipping_lines', part(line), String(line.method_title)),
    ),
  ];
}

/** The share of a line: `wanted` of `whole` of what is left, in amounts of so many decimals. */
export function share(one: Refundable, wanted: number, whole: number, decimals: number): Sum {
  const isAll = wanted >= whole;
  const round = (amount: number): number => Number(amount.toFixed(decimals));
  const of = (amount: number): number =>
    round(isAll ? amount : whole > 0 ? (amount * wanted) / whole : 0);
  return {
    quantity: one.bought === undefined ? 0 : wanted,
    total: of(one.left.total),
    taxes: Object.fromEntries(
      Object.entries(one.left.taxes).map(([id, tax]): [string, number] => [id, of(tax)]),
    ),
  };
}

/** The lines of a request. */
export function requested(parts: { one: Refundable; sum: Sum }[]): Record<string, Json> {
  const body: Record<string, Json[]> = {};
  for (const { one, sum } of parts) {
    (body[one.kind] ??= []).push({
      id: one.id,
      ...(one.bought === undefined ? {} : { quantity: sum.quantity }),
      refund_total: sum.total,
      refund_tax: Object.entries(sum.taxes).map(([id, total]) => ({
        id: Number(id),
        refund_total: total,
      })),
    });
  }
  return body;
}
