// Entries of the audit log as people read them. The server tells names and words; here are its ids and
// values.
import type { Query } from './api';
import { labelled } from './fields';
import { instant, ofZone, stateName } from './format';
import type { Activity, AuditEntry } from './generated';
import type { Column, Filter } from './lists';
import { texts } from './texts';

const t = texts.console.audit;

/** An entry with or without what its fields were. */
export type Entry = AuditEntry & Partial<Pick<Activity, 'values'>>;

const kindOf = (actor: string): string => actor.split(':')[0] ?? actor;

/** Who did it, by name where there is one. */
export const actorOf = (entry: Entry): string =>
  entry.actorName ?? t.unnamed[kindOf(entry.actor)] ?? entry.actor;

/** What kind of actor it was, and from where. */
const originOf = (entry: Entry): string =>
  [entry.actorName ? t.actors[kindOf(entry.actor)] : '', entry.ip].filter(Boolean).join(' · ');

export const objectOf = (entry: Entry): string =>
  `${t.objects[entry.object] ?? labelled(entry.object)} ${entry.objectId}`;

const label = (name: string): string => texts.fields.labels[name] ?? labelled(name);

/** A list, also one that was kept as text. */
function listOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || !value.startsWith('[')) return undefined;
  try {
    return listOf(JSON.parse(value) as unknown[]);
  } catch {
    return undefined;
  }
}

function written(value: unknown, field: string): string {
  if (value === null || value === undefined || value === '') return t.none;
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  const list = listOf(value);
  if (list) return list.map((one) => written(one, field)).join(', ') || t.none;
  if (typeof value === 'object')
    return (
      Object.entries(value)
        .map(([name, inner]) => `${label(name)} ${written(inner, name)}`)
        .join(', ') || t.none
    );
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return field === 'status' ? stateName(text) : text;
}

interface Change {
  from: unknown;
  to: unknown;
}

/** Every field with its old and its new value, or that it changed where these are not to be read. */
export function changesOf(entry: Entry): string[] {
  const fields = Object.entries((entry.changes ?? {}) as Record<string, Change | string>);
  const lines = fields.map(([name, logged]) => {
    const change = entry.values?.[name] ?? (typeof logged === 'object' ? logged : undefined);
    return change
      ? t.change(label(name), written(change.from, name), written(change.to, name))
      : t.changed(label(name));
  });
  return entry.reason ? [...lines, t.because(entry.reason)] : lines;
}

const FIELDS_TRIED = 3;

/** People type what a field is called here: then it is looked for as the log calls it. */
export function searches(text: string): Query[] {
  const wanted = text.toLowerCase();
  const fields = Object.entries(texts.fields.labels)
    .filter(([, label]) => label.toLowerCase().includes(wanted))
    .sort(([, one], [, other]) => one.length - other.length);
  return [text, ...fields.slice(0, FIELDS_TRIED).map(([name]) => name)].map((search) => ({
    search,
  }));
}

export const COLUMNS: Column<Entry>[] = [
  {
    key: 'when',
    label: t.when,
    text: (entry) => instant(entry.time),
    raw: (entry) => entry.time,
    isNowrap: true,
  },
  { key: 'what', label: t.what, text: (entry) => entry.summary },
  { key: 'who', label: t.who, text: actorOf, hint: originOf },
  {
    key: 'object',
    label: t.object,
    text: objectOf,
    link: (entry) =>
      entry.object === 'merchant' && entry.result === 'done'
        ? `/merchants/${entry.objectId}`
        : undefined,
  },
  {
    key: 'changes',
    label: t.changes,
    text: (entry) => changesOf(entry).join('; '),
    lines: changesOf,
  },
  { key: 'result', label: t.result, text: (entry) => entry.result, isState: true },
  {
    key: 'number',
    label: t.number,
    text: (entry) => String(entry.sequence),
    isRight: true,
    isExtra: true,
  },
  { key: 'action', label: t.action, text: (entry) => entry.action, isExtra: true },
  { key: 'request', label: t.request, text: (entry) => entry.requestId ?? '', isExtra: true },
];

const DAY_MS = 86_400_000;
/** The instant at which a day begins here. */
const start = (day: string): Date => ofZone(`${day}T00:00:00`);

export const PERIOD: Filter[] = [
  {
    name: 'from',
    label: t.from,
    kind: 'day',
    query: (day) => ({ from: start(day).toISOString() }),
  },
  {
    name: 'until',
    label: t.until,
    kind: 'day',
    query: (day) => ({
      until: start(
        new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10),
      ).toISOString(),
    }),
  },
];
