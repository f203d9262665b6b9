// Something that is loaded: the last good value stays visible while the next one is on its way, and
// an answer that comes too late is dropped.
import { ApiError } from './api';

export class Resource<T> {
  value = $state.raw<T>();
  error = $state.raw<ApiError>();
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
      this.error = undefined;
    } catch (error) {
      if (mine.signal.aborted) return;
      this.error = error instanceof ApiError ? error : new ApiError(0, 'unexpected', String(error));
    }
    this.isLoading = false;
  }
}
