// Short notes at the edge of the page about what was just done, with a way back where there is one.
export interface Toast {
  id: number;
  text: string;
  isBad: boolean;
  /** When it was said. */
  at: number;
  undo?: () => Promise<unknown>;
}

const SHOWN_MS = 5000;
/** Who wants to take something back needs time to see that. */
const SHOWN_WITH_UNDO_MS = 10_000;

/** What is said along with a change of the page. */
const JUST_NOW_MS = 700;

class Toasts {
  list = $state.raw<Toast[]>([]);
  #next = 1;

  say(text: string, isBad = false, undo?: () => Promise<unknown>): void {
    const id = this.#next++;
    // What went wrong before is settled by what is said now. Nothing is said twice at once, but a
    // way back stays: the same words may be about something else.
    const isKept = (toast: Toast) =>
      !toast.isBad && (toast.undo !== undefined || toast.text !== text);
    this.list = [
      ...this.list.filter(isKept),
      { id, text, isBad, at: Date.now(), ...(undo ? { undo } : {}) },
    ];
    setTimeout(() => this.drop(id), undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS);
  }

  /** Another page is shown: what was said on the one before is over, unless it led here. */
  turnPage(): void {
    this.list = this.list.filter((toast) => Date.now() - toast.at < JUST_NOW_MS);
  }

  drop(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  async takeBack(toast: Toast): Promise<void> {
    this.drop(toast.id);
    try {
      await toast.undo?.();
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), true);
    }
  }
}

export const toasts = new Toasts();
