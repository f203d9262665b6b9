// Lists of records: what a column shows, what a filter asks, where the records come from, and the file that
// a list becomes.
import type { Source as Lookup } from './analytics/filters';
import { getPage, rest, type Query } from './api';
import type { Field } from './fields';
import { get as getOnboarding, goesOn, type Listed } from './iso.svelte';

export interface Column<T> {
  key: string;
  label: string;
  text: (item: T) => string;
  /** What stands in a file, where that is not what is shown: a number without its sign, for one. */
  raw?: (item: T) => string;
  /** A page of the portal. */
  link?: (item: T) => string | undefined;
  /** What is shown instead of the text, a line each. */
  lines?: (item: T) => string[];
  /** A second line, in small letters. */
  hint?: (item: T) => string;
  /** Whether the text is a status, which has a colour. */
  isState?: boolean;
  isRight?: boolean;
  isNowrap?: boolean;
  /** Whether it is shown only to those who choose it. */
  isExtra?: boolean;
  /** What the server calls sorting by it. */
  orderby?: string;
}

/** A column that people can choose to see. */
export interface Choosable {
  key: string;
  label: string;
  isExtra?: boolean;
}

/** Those of the columns that are shown: the chosen ones if some were, the first one always. */
export const shownColumns = <T extends Choosable>(
  columns: readonly T[],
  chosen: readonly string[] | undefined,
): T[] =>
  columns.filter(
    (column, index) => index === 0 || (chosen ? chosen.includes(column.key) : !column.isExtra),
  );

export interface Filter {
  /** In the address. */
  name: string;
  label: string;
  kind: 'day' | 'choice' | 'lookup' | 'text';
  options?: { value: string; text: string }[];
  /** Where ids are found by what people call them. */
  lookup?: Lookup;
  /** What the server is asked; without it, the value under the same name. */
  query?: (value: string) => Query;
}

/** Something that is done to all records that were selected. */
export interface BulkAction {
  label: string;
  /** What has consequences says so first. */
  consequence?: string;
  isDanger?: boolean;
  /** What has to be known first. */
  fields?: () => Promise<Field[]>;
  /** What is said afterwards. */
  run: (ids: number[], values: Record<string, unknown>) => Promise<string>;
}

export interface Part<T> {
  items: T[];
  /** How many there are in all, where that is known. */
  total?: number;
  pages?: number;
  /** Where the list goes on; nothing at its end. */
  next: string | null;
}

/** A part of a list: the first one, or the one at a place that an earlier part named. */
export type Source<T> = (
  query: Query,
  place: string | undefined,
  size: number,
  signal?: AbortSignal,
) => Promise<Part<T>>;

/** A list of the REST interface; places are numbers of pages. */
export function paged<T>(path: string): Source<T> {
  return async (query, place, size, signal) => {
    const page = Number(place ?? 1);
    const found = await getPage<T[]>(rest(path), { ...query, page, per_page: size }, signal);
    return { ...found, next: page < found.pages ? String(page + 1) : null };
  };
}

/** A list of the onboarding interface; places are cursors. */
export function cursored<T>(path: string, cursor = 'cursor'): Source<T> {
  return async (query, place, size, signal) => {
    const at = place === undefined ? {} : { [cursor]: place };
    const page = await getOnboarding<Listed<T>>(path, { ...query, ...at, limit: size }, signal);
    const next = goesOn(page);
    return { items: page.data, next: next === null ? null : String(next) };
  };
}

const DAY_MS = 86_400_000;
const shifted = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/** The server's bounds are exclusive: from the last second before a day, to the first after one. */
export const fromDay = (day: string): Query => ({ after: `${shifted(day, -1)}T23:59:59` });
export const untilDay = (day: string): Query => ({ before: `${shifted(day, 1)}T00:00:00` });

/** A cell of a file. What a spreadsheet would take for a formula is kept from being one. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv<T>(columns: readonly Column<T>[], items: readonly T[]): string {
  const lines = items.map((item) =>
    columns.map((column) => cell((column.raw ?? column.text)(item))).join(','),
  );
  return [columns.map((column) => cell(column.label)).join(','), ...lines, ''].join('\r\n');
}

/** Hands a text to the browser as a file. */
export function saveFile(name: string, text: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
