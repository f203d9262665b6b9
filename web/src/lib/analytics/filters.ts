// Filters of a report: which there are, as the server itself describes the route's parameters; how a
// value is written into the address and into a request; and where the names behind ids come from.
import { get, rest, send, type Json, type Query } from '../api';
import { labelled } from '../fields';
import { texts } from '../texts';

export interface Filter {
  name: string;
  label: string;
  description: string;
  kind: 'choice' | 'choices' | 'ids' | 'words' | 'word' | 'number' | 'moment' | 'yes' | 'pairs';
  options: string[];
  source?: Source;
}

/** Where ids of a kind are looked up by what people call them. */
export interface Source {
  path: string;
  search: string;
  include: string;
  id: string;
  name: (item: Record<string, unknown>) => string;
  /** What else the list is asked. */
  query?: Query;
}

const title = (item: Record<string, unknown>): string => String(item.name ?? item.code ?? item.id);

const named = (item: Record<string, unknown>): string =>
  `${item.first_name ?? ''} ${item.last_name ?? ''}`.trim();

export const PRODUCTS: Source = {
  path: 'wc-analytics/products',
  search: 'search',
  include: 'include',
  id: 'id',
  name: title,
};

export const CATEGORIES: Source = { ...PRODUCTS, path: 'wc-analytics/products/categories' };

/** People with an account, by the number of that account. */
export const CUSTOMERS: Source = {
  path: 'wc/v3/customers',
  search: 'search',
  include: 'include',
  id: 'id',
  name: (item) => [named(item), item.email].filter(Boolean).join(' · '),
  query: { role: 'all' },
};

const SOURCES: Record<string, Source> = {
  product: PRODUCTS,
  variation: {
    path: 'wc-analytics/variations',
    search: 'search',
    include: 'include',
    id: 'id',
    name: title,
  },
  category: CATEGORIES,
  coupon: {
    path: 'wc-analytics/coupons',
    search: 'search',
    include: 'include',
    id: 'id',
    name: title,
  },
  tax: {
    path: 'wc-analytics/taxes',
    search: 'search',
    include: 'include',
    id: 'id',
    name: (item) => [item.country, item.state, item.name].filter(Boolean).join(' '),
  },
  customer: {
    path: 'wc-analytics/customers',
    search: 'search',
    include: 'include',
    id: 'id',
    name: (item) => String(item.name || item.email || item.username || item.id),
  },
};

const SOURCE_OF: Record<string, keyof typeof SOURCES> = {
  product: 'product',
  products: 'product',
  variation: 'variation',
  variations: 'variation',
  category: 'category',
  categories: 'category',
  coupon: 'coupon',
  coupons: 'coupon',
  tax_rate: 'tax',
  taxes: 'tax',
  customer: 'customer',
  customers: 'customer',
  parent: 'product',
};

/** Parameters that are no filters: pages, sorting, ranges, and what the view itself decides. */
const NO_FILTERS = new Set([
  'context',
  'page',
  'per_page',
  'offset',
  'after',
  'before',
  'order',
  'orderby',
  'interval',
  'segmentby',
  'fields',
  'extended_info',
  'force_cache_refresh',
  'match',
]);

interface Arg {
  description?: string;
  type?: string | string[];
  enum?: string[];
  format?: string;
  items?: { type?: string | string[]; enum?: string[] };
}

interface Described {
  endpoints?: { methods: string[]; args: Record<string, Arg> }[];
}

export interface Abilities {
  filters: Filter[];
  orderby: string[];
  segmentby: string[];
  hasMatch: boolean;
}

const known = new Map<string, Promise<Abilities>>();

/** What the route takes, asked once. */
export function abilities(route: string): Promise<Abilities> {
  let asked = known.get(route);
  if (!asked) {
    asked = ask(route);
    asked.catch(() => known.delete(route));
    known.set(route, asked);
  }
  return asked;
}

async function ask(route: string): Promise<Abilities> {
  const answer = await send(rest(`wc-analytics/reports/${route}`), { method: 'OPTIONS' });
  const described = (await answer.json()) as Described;
  const args =
    described.endpoints?.find((endpoint) => endpoint.methods.includes('GET'))?.args ?? {};
  const filters = Object.entries(args).flatMap(([name, arg]) =>
    NO_FILTERS.has(name) ? [] : [filterOf(name, arg)],
  );
  return {
    filters,
    orderby: args.orderby?.enum ?? [],
    segmentby: args.segmentby?.enum ?? [],
    hasMatch: args.match !== undefined,
  };
}

function filterOf(name: string, arg: Arg): Filter {
  const stem = name.replace(/_(includes|excludes|exclude)$/, '');
  const sourceName = SOURCE_OF[stem];
  const isList = arg.type === 'array' || (Array.isArray(arg.type) && arg.type.includes('array'));
  const options = arg.enum ?? arg.items?.enum ?? [];
  let kind: Filter['kind'] = 'word';
  if (name.startsWith('attribute_is')) kind = 'pairs';
  else if (options.length) kind = isList ? 'choices' : 'choice';
  else if (isList) kind = sourceName ? 'ids' : 'words';
  else if (arg.type === 'boolean') kind = 'yes';
  else if (arg.format === 'date-time') kind = 'moment';
  else if (arg.type === 'integer' || arg.type === 'number') kind = 'number';
  const source = sourceName && SOURCES[sourceName];
  return {
    name,
    label: labelOf(name),
    description: arg.description ?? '',
    kind,
    options: options.filter((option) => option !== ''),
    ...(source ? { source } : {}),
  };
}

/** `product_includes` reads `Product is`. */
export function labelOf(name: string): string {
  const [end, words] = Object.entries(texts.filters.relations).find(([end]) =>
    name.endsWith(`_${end}`),
  ) ?? ['', ''];
  const stem = labelled(end ? name.slice(0, -end.length - 1) : name);
  return words ? `${stem} ${words}` : stem;
}

/** In an address a filter is `f.name=value`, several values with commas. */
export const PREFIX = 'f.';

export function chosenFilters(query: URLSearchParams): { name: string; value: string }[] {
  return [...query.entries()]
    .filter(([name, value]) => name.startsWith(PREFIX) && value !== '')
    .map(([name, value]) => ({ name: name.slice(PREFIX.length), value }));
}

/** The parameters of a request, of those filters that the route knows. */
export function filterQuery(query: URLSearchParams, able: Abilities): Query {
  const wanted: Record<string, Query[string]> = {};
  for (const { name, value } of chosenFilters(query)) {
    const filter = able.filters.find((candidate) => candidate.name === name);
    if (!filter) continue;
    if (filter.kind === 'pairs') {
      value.split(',').forEach((pair, index) => {
        const [attribute = '', term = ''] = pair.split(':');
        wanted[`${name}[${index}]`] = [attribute, term];
      });
    } else if (['ids', 'words', 'choices'].includes(filter.kind)) wanted[name] = value.split(',');
    else wanted[name] = value;
  }
  if (able.hasMatch && query.get('match') === 'any') wanted.match = 'any';
  return wanted;
}

export interface Named {
  id: string;
  name: string;
}

async function look(source: Source, query: Query, signal?: AbortSignal): Promise<Named[]> {
  const items = await get<Record<string, Json>[]>(
    rest(source.path),
    { ...source.query, ...query, per_page: 20 },
    signal,
  );
  return items.map((item) => ({ id: String(item[source.id]), name: source.name(item) }));
}

export const search = (source: Source, text: string, signal?: AbortSignal): Promise<Named[]> =>
  look(source, { [source.search]: text }, signal);

export const namesOf = (source: Source, ids: string[]): Promise<Named[]> =>
  look(source, { [source.include]: ids });
