// Ranges of days: presets, what they are compared with, and the intervals that suit them. Days are
// those of the site's wall clock, as `YYYY-MM-DD`.
import { site } from './session.svelte';

export interface Range {
  /** First and last day, both included. */
  from: string;
  until: string;
}

export const PRESETS = [
  'today',
  'yesterday',
  'week',
  'last_week',
  'month',
  'last_month',
  'quarter',
  'last_quarter',
  'year',
  'last_year',
] as const;
export type Preset = (typeof PRESETS)[number];
export type Compare = 'previous_period' | 'previous_year' | 'none';
export type Interval = 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

const DAY_MS = 86_400_000;

const parse = (day: string): Date => new Date(`${day}T00:00:00Z`);
const write = (date: Date): string => date.toISOString().slice(0, 10);
const plusDays = (day: string, days: number): string =>
  write(new Date(parse(day).getTime() + days * DAY_MS));
const first = (year: number, month: number): string => write(new Date(Date.UTC(year, month, 1)));

/** Today where the site is. */
export function today(now = new Date()): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: site().timezone }).format(now);
}

export function days(range: Range): number {
  return Math.round((parse(range.until).getTime() - parse(range.from).getTime()) / DAY_MS) + 1;
}

export function rangeOf(preset: Preset, now = today()): Range {
  const date = parse(now);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  const quarter = month - (month % 3);
  const sinceWeekStart = (date.getUTCDay() - site().start_of_week + 7) % 7;
  const weekStart = plusDays(now, -sinceWeekStart);
  const before = (day: string): string => plusDays(day, -1);
  switch (preset) {
    case 'today':
      return { from: now, until: now };
    case 'yesterday':
      return { from: before(now), until: before(now) };
    case 'week':
      return { from: weekStart, until: now };
    case 'last_week':
      return { from: plusDays(weekStart, -7), until: before(weekStart) };
    case 'month':
      return { from: first(year, month), until: now };
    case 'last_month':
      return { from: first(year, month - 1), until: before(first(year, month)) };
    case 'quarter':
      return { from: first(year, quarter), until: now };
    case 'last_quarter':
      return { from: first(year, quarter - 3), until: before(first(year, quarter)) };
    case 'year':
      return { from: first(year, 0), until: now };
    case 'last_year':
      return { from: first(year - 1, 0), until: before(first(year, 0)) };
  }
}

/** The range to compare with: as many days before, or the same days a year before. */
export function compared(range: Range, compare: Compare): Range | undefined {
  switch (compare) {
    case 'none':
      return undefined;
    case 'previous_period': {
      const length = days(range);
      return { from: plusDays(range.from, -length), until: plusDays(range.until, -length) };
    }
    case 'previous_year':
      return { from: yearBefore(range.from), until: yearBefore(range.until) };
  }
}

/** The 29th of February has no day a year before; the 28th stands in. */
function yearBefore(day: string): string {
  const date = parse(day);
  const last = new Date(
    Date.UTC(date.getUTCFullYear() - 1, date.getUTCMonth() + 1, 0),
  ).getUTCDate();
  return write(
    new Date(
      Date.UTC(date.getUTCFullYear() - 1, date.getUTCMonth(), Math.min(date.getUTCDate(), last)),
    ),
  );
}

/** Intervals that give a readable chart, the best one first. */
export function intervals(range: Range): [Interval, ...Interval[]] {
  const length = days(range);
  if (length <= 2) return ['hour', 'day'];
  if (length <= 9) return ['day', 'hour'];
  if (length <= 92) return ['day', 'week'];
  if (length <= 400) return ['week', 'day', 'month', 'quarter'];
  return ['month', 'week', 'quarter', 'year'];
}

export const bounds = (range: Range): { after: string; before: string } => ({
  after: `${range.from}T00:00:00`,
  before: `${range.until}T23:59:59`,
});

export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(parse(text).getTime());
