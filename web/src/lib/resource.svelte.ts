// Something that is loaded: the last good value stays visible while the next one is on its way, and
// an answer that comes too late is dropped.
import { Refusal } from './api';

export class Resource<T> {
  value = $state.raw<T>();
  fault = $state.raw<Refusal>();
  isLoading = $state(true);
  #running: AbortController | undefined;
  readonly #load: (signal: AbortSignal) => Promise<T>;

  /** What `load` reads of the state decides when it is loaded again. */
  constructor(load: (signal: AbortSignal) => Promise<T>) {
    this.#load = load;
    $effect(() => {
      void this.reload();
      return () => this.#running?.abort();
    });
  }

  async reload(): Promise<void> {
    this.#running?.abort();
    const mine = new AbortController();
    this.#running = mine;
    const loading = this.#load(mine.signal);
    this.isLoading = true;
    try {
      const value = await loading;
      if (mine.signal.aborted) return;
      this.value = value;
      this.fault = undefined;
    } catch (error) {
      if (mine.signal.aborted) return;
      this.fault = error instanceof Refusal ? error : new Refusal(0, 'unexpected', String(error));
    }
    this.isLoading = false;
  }
}
