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

const PER_PAGE = 100;
/** More intervals than a screen has pixels help nobody. */
const PAGES_MAX = 12;

/** The sums of a report over time; `query` may say by what they are split. */
export async function stats(
  route: string,
  range: Range,
  interval: Interval,
  query: Query,
  signal: AbortSignal,
): Promise<Stats> {
  const wanted = {
    ...query,
    ...bounds(range),
    interval,
    per_page: PER_PAGE,
    order: 'asc',
    orderby: 'date',
  };
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
