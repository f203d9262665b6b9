// News from the server: a number that grows when orders changed, so that figures are loaded again.
import { rest, signed } from './api';

/** Many changes at once are one piece of news. */
const QUIET_MS = 800;

class Live {
  version = $state(0);
  isConnected = $state(false);
  #source: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  open(): void {
    if (this.#source) return;
    const source = new EventSource(signed(rest('boardwalk/v1/live')));
    this.#source = source;
    source.onopen = () => (this.isConnected = true);
    source.onerror = () => (this.isConnected = false);
    // The first event tells where the facts are already.
    let isFirst = true;
    source.addEventListener('facts', () => {
      if (isFirst) {
        isFirst = false;
        return;
      }
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.version++, QUIET_MS);
    });
  }
}

export const live = new Live();
