// Changing many products at once: what the form asks, and what each product becomes.
import { get, rest, type Json } from '../../lib/api';
import { plainField, type Field } from '../../lib/fields';
import { plainText } from '../../lib/plain';
import { texts } from '../../lib/texts';
import { productTexts } from '../../lib/texts/products';
import type { Product } from './types';

const t = productTexts.bulk;
/** A price, or a change of one: a sign makes it a change, a percent sign a part. */
const PRICE = '^[+\\-]?\\d+(\\.\\d+)?%?$';
const SALE = '^(-|[+\\-]?\\d+(\\.\\d+)?%?)$';
const CATEGORIES_MAX = 100;

export async function bulkFields(): Promise<Field[]> {
  const categories = await get<{ id: number; name: string }[]>(rest('wc/v3/products/categories'), {
    per_page: CATEGORIES_MAX,
    orderby: 'name',
  });
  const choices = (values: string[]): Field['options'] =>
    values.map((value) => ({ value, text: texts.fields.options[value] ?? value }));
  return [
    plainField('status', t.status, {
      kind: 'choice',
      options: choices(['publish', 'draft', 'pending', 'private']),
    }),
    plainField('price', t.price, { hint: t.priceHint, rules: { pattern: PRICE } }),
    plainField('sale', t.sale, { hint: t.saleHint, rules: { pattern: SALE } }),
    plainField('stock_status', t.stock, {
      kind: 'choice',
      options: choices(['instock', 'outofstock', 'onbackorder']),
    }),
    plainField('stock_quantity', t.quantity, { kind: 'number' }),
    plainField('categories', t.categories, {
      kind: 'choices',
      options: categories.map(({ id, name }) => ({ value: String(id), text: plainText(name) })),
    }),
    plainField('tags', t.tags, { kind: 'list', hint: t.tagsHint }),
  ];
}

/** What a price becomes; nothing when it cannot be said, as of a change of no price. */
function priceOf(wish: string, base: string): string | undefined {
  const [, sign = '', number = '', percent = ''] = /^([+-]?)([\d.]+)(%?)$/.exec(wish) ?? [];
  if (!number) return undefined;
  if (!sign && !percent) return number;
  if (base === '') return undefined;
  const step = percent ? (Number(base) * Number(number)) / 100 : Number(number);
  // A part without a sign is that part of it.
  const result = sign === '-' ? Number(base) - step : sign ? Number(base) + step : step;
  return Math.max(0, result).toFixed(2);
}

/** What is sent for one product. */
export function bulkChange(
  product: Product,
  values: Record<string, unknown>,
  tags: readonly number[],
): Record<string, Json> {
  const body: Record<string, Json> = { id: product.id };
  const text = (name: string): string => String(values[name] ?? '').trim();
  if (text('status')) body.status = text('status');
  const regular = text('price') ? priceOf(text('price'), product.regular_price) : undefined;
  if (regular !== undefined) body.regular_price = regular;
  if (text('sale') === '-') body.sale_price = '';
  else if (text('sale')) {
    const sale = priceOf(text('sale'), regular ?? product.regular_price);
    if (sale !== undefined) body.sale_price = sale;
  }
  if (text('stock_status')) body.stock_status = text('stock_status');
  if (text('stock_quantity')) {
    body.manage_stock = true;
    body.stock_quantity = Number(text('stock_quantity'));
  }
  const ids = (list: readonly { id: number }[]): { id: number }[] => list.map(({ id }) => ({ id }));
  const categories = ((values.categories ?? []) as string[]).map((id) => ({ id: Number(id) }));
  if (categories.length) body.categories = [...ids(product.categories), ...categories];
  if (tags.length) body.tags = [...ids(product.tags), ...tags.map((id) => ({ id }))];
  return body;
}
