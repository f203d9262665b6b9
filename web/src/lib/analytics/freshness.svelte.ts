// By how much reports are behind the orders, where another server answers them. In the memory of
// the process they are never behind, and nothing is said.

/** Such as `clickhouse; lag=0.4s`. */
const HEADER = 'X-Boardwalk-Facts';

class Freshness {
  /** In seconds. */
  lag = $state<number>();

  /** Reads what an answer says; most say nothing. */
  note(headers: Headers): void {
    const lag = /lag=([\d.]+)s/.exec(headers.get(HEADER) ?? '')?.[1];
    if (lag !== undefined) this.lag = Number(lag);
  }
}

export const freshness = new Freshness();
