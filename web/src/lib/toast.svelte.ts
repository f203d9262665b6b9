// Short notes at the edge of the page about what was just done.
export interface Toast { id: number; text: string; isBad: boolean }

const SHOWN_MS = 5000;

class Toasts {
  list = $state<Toast[]>([]);
  #next = 1;

  say(text: string, isBad = false): void {
    const id = this.#next++;
    this.list.push({ id, text, isBad });
    setTimeout(() => (this.list = this.list.filter((toast) => toast.id !== id)), SHOWN_MS);
  }
}

export const toasts = new Toasts();
