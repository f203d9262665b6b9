// The range of days that the address names, and what it is compared with.
import { here } from '../router.svelte';
import {
  compared,
  intervals,
  isDay,
  PRESETS,
  rangeOf,
  type Compare,
  type Interval,
  type Preset,
  type Range,
} from '../period';

const COMPARISONS: readonly Compare[] = ['previous_period', 'previous_year', 'none'];

class Chosen {
  readonly preset: Preset | 'custom' = $derived.by(() => {
    const given = here.text('period', 'month');
    if (given === 'custom' && isDay(here.text('from')) && isDay(here.text('until')))
      return 'custom';
    return PRESETS.find((preset) => preset === given) ?? 'month';
  });

  readonly range: Range = $derived.by(() => {
    if (this.preset !== 'custom') return rangeOf(this.preset);
    const [from, until] = [here.text('from'), here.text('until')];
    return from <= until ? { from, until } : { from: until, until: from };
  });

  readonly compare: Compare = $derived(
    COMPARISONS.find((one) => one === here.text('compare')) ?? 'previous_period',
  );

  readonly before: Range | undefined = $derived(compared(this.range, this.compare));

  readonly intervals = $derived(intervals(this.range));

  readonly interval: Interval = $derived.by(() => {
    const given = here.text('interval');
    return this.intervals.find((one) => one === given) ?? this.intervals[0];
  });

  /** The parameters that other views of the same days need. */
  get query(): string {
    const kept = new URLSearchParams();
    for (const name of ['period', 'from', 'until', 'compare']) {
      const value = here.text(name);
      if (value) kept.set(name, value);
    }
    const text = kept.toString();
    return text ? `?${text}` : '';
  }
}

export const chosen = new Chosen();
