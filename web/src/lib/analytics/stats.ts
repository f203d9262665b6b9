// Sums over time, page by page where the server gives at most a hundred intervals at once.
import { get, getPage, rest, type Query } from '../api';
import { bounds, type Interval, type Range } from '../period';

export interface IntervalRow {
  interval: string;
  date_start: string;
  subtotals: Record<string, number> & { segments: Segment[] };
}

export interface Segment {
  /** A number, or the same as text. */
  segment_id: number | string;
  segment_label: string | null;
  subtotals: Record<string, number>;
}

export interface Stats {
  totals: Record<string, number> & { segments: Segment[] };
  intervals: IntervalRow[];
}

/** New and returning customers are asked for one by one: the interface tells their sums only so. */
export const BY_CUSTOMER = 'customer_type';
const CUSTOMERS = ['new', 'returning'];

/** The sums, split by what `by` names, where that is asked for. */
export async function segmented(route: string, range: Range, interval: Interval, query: Query, by: string, signal: AbortSignal): Promise<Stats> {
  if (by !== BY_CUSTOMER) return stats(route, range, interval, by ? { ...query, segmentby: by } : query, signal);
  const [whole, ...parts] = await Promise.all([
    stats(route, range, interval, query, signal),
    ...CUSTOMERS.map((kind) => stats(route, range, interval, { ...query, [BY_CUSTOMER]: kind }, signal)),
  ]);
  const of = (pick: (part: Stats) => Record<string, number> | undefined): Segment[] =>
    parts.map((part, index) => ({ segment_id: CUSTOMERS[index] ?? '', segment_label: CUSTOMERS[index] ?? null, subtotals: pick(part) ?? {} }));
  const split = <T extends object>(sums: T, segments: Segment[]): T => ({ ...sums, segments });
  return {
    totals: split(whole!.totals, of((part) => part.totals)),
    intervals: whole!.intervals.map((one, index) => ({ ...one, subtotals: split(one.subtotals, of((part) => part.intervals[index]?.subtotals)) })),
  };
}

const PER_PAGE = 100;
/** More intervals than a screen has pixels help nobody. */
const PAGES_MAX = 12;

export async function stats(route: string, range: Range, interval: Interval, query: Query, signal: AbortSignal): Promise<Stats> {
  const wanted = { ...query, ...bounds(range), interval, per_page: PER_PAGE, order: 'asc', orderby: 'date' };
  const first = await getPage<Stats>(rest(`wc-analytics/reports/${route}`), wanted, signal);
  const rest_ = Array.from({ length: Math.min(first.pages, PAGES_MAX) - 1 }, (_, index) =>
    get<Stats>(rest(`wc-analytics/reports/${route}`), { ...wanted, page: index + 2 }, signal),
  );
  const more = await Promise.all(rest_);
  return {
    totals: first.items.totals,
    intervals: [first.items, ...more].flatMap((page) => page.intervals),
  };
}
