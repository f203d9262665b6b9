// Money, numbers and moments as this site writes them. Amounts come as numbers in the currency's
// unit, moments as the server's local text (`2026-03-01 12:00:00` or with a T) or as ISO text.
import { site } from './session.svelte';
import { texts } from './texts';

export type Kind = 'money' | 'count' | 'average' | 'text' | 'date' | 'moment' | 'percent';

function grouped(value: number, decimals: number): string {
  const { decimal_separator, thousand_separator } = site().currency;
  const [whole = '0', fraction] = Math.abs(value).toFixed(decimals).split('.');
  const spaced = whole.replace(/\B(?=(\d{3})+(?!\d))/g, thousand_separator);
  return fraction ? spaced + decimal_separator + fraction : spaced;
}

export function money(value: number): string {
  const { symbol, position, decimals } = site().currency;
  const text = grouped(value, decimals);
  const placed = {
    left: symbol + text,
    right: text + symbol,
    left_space: `${symbol}\u00a0${text}`,
    right_space: `${text}\u00a0${symbol}`,
  }[position];
  return isBelowZero(value, decimals) ? `−${placed}` : placed;
}

export function count(value: number): string {
  return (value < 0 ? '−' : '') + grouped(value, 0);
}

function isBelowZero(value: number, decimals: number): boolean {
  return value < 0 && Number(value.toFixed(decimals)) !== 0;
}

/** Large amounts on the axis of a chart. */
export function short(value: number, kind: Kind): string {
  const size = Math.abs(value);
  const [divisor, unit] = size >= 1e6 ? [1e6, 'M'] : size >= 1e4 ? [1e3, 'k'] : [1, ''];
  const text = (size / divisor).toLocaleString('en', { maximumFractionDigits: size < 10 ? 2 : 1 });
  return (value < 0 ? '−' : '') + (kind === 'money' ? site().currency.symbol : '') + text + unit;
}

/** The change from one value to another, in whole percent; nothing when there is no base. */
export function change(now: number, before: number): number | undefined {
  if (before === 0) return now === 0 ? 0 : undefined;
  return Math.round(((now - before) / Math.abs(before)) * 100);
}

export function percent(value: number): string {
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${count(Math.abs(value))}%`;
}

/** A moment of the site's wall clock as a date whose UTC parts are that wall clock's. */
export function wallClock(text: string): Date {
  const iso = text.replace(' ', 'T');
  return new Date(
    /[zZ]|[+-]\d\d:?\d\d$/.test(iso) ? iso : `${iso}${iso.includes('T') ? '' : 'T00:00:00'}Z`,
  );
}

const asIs = { timeZone: 'UTC' } as const;

export function day(text: string): string {
  return wallClock(text).toLocaleDateString('en', {
    ...asIs,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
}

/** The same without the years, where there is little room. */
export function shortSpan(range: { from: string; until: string }): string {
  const short = (text: string): string =>
    wallClock(text).toLocaleDateString('en', { ...asIs, day: 'numeric', month: 'short' });
  const isOld = range.from.slice(0, 4) !== range.until.slice(0, 4);
  return isOld
    ? span(range)
    : range.from === range.until
      ? day(range.from)
      : `${short(range.from)} – ${day(range.until)}`;
}

/** First and last day, or the one day. */
export function span(range: { from: string; until: string }): string {
  return range.from === range.until ? day(range.from) : `${day(range.from)} – ${day(range.until)}`;
}

export function moment(text: string): string {
  const at = wallClock(text);
  return `${day(text)}, ${at.toLocaleTimeString('en', { ...asIs, hour: '2-digit', minute: '2-digit', hour12: false })}`;
}

/** An instant, in the site's time zone. */
export function instant(text: string): string {
  return new Date(text).toLocaleString('en', {
    timeZone: site().timezone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
  });
}

/** What the site's wall clock shows at an instant, as controls take it. */
export const inZone = (at: Date): string =>
  at.toLocaleString('sv', { timeZone: site().timezone }).replace(' ', 'T');

/** The instant at which the site's wall clock shows this. */
export function ofZone(wall: string): Date {
  const guess = Date.parse(`${wall}Z`);
  // The distance from UTC is that of a moment close by; once more, for the days on which clocks are changed.
  const near = guess - (Date.parse(`${inZone(new Date(guess))}Z`) - guess);
  return new Date(guess - (Date.parse(`${inZone(new Date(near))}Z`) - near));
}

/** What a state is called. */
export const stateName = (value: string): string =>
  texts.states[value] ?? value.replaceAll('_', ' ').replaceAll('-', ' ');

export function show(value: unknown, kind: Kind): string {
  if (value === null || value === undefined || value === '') return '–';
  switch (kind) {
    case 'money':
      return money(Number(value));
    case 'count':
      return count(Number(value));
    case 'average':
      return grouped(Number(value), 2);
    case 'percent':
      return `${Number(value).toLocaleString('en', { maximumFractionDigits: 4 })}%`;
    case 'date':
      return day(String(value));
    case 'moment':
      return moment(String(value));
    default:
      return String(value);
  }
}

const REGIONS = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

/** A country by its code of two letters. */
export const regionName = (code: string): string => REGIONS.of(code) ?? code;
