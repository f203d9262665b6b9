// What was typed and not saved yet: whoever leaves the page is asked first.

class Unsaved {
  #held = new Set<symbol>();
  /** What goes on once somebody decides to leave; the shell asks while it is there. */
  question = $state.raw<() => void>();

  constructor() {
    addEventListener('beforeunload', (event) => {
      if (this.#held.size > 0) event.preventDefault();
    });
  }

  /** Keeps people here until what is returned is called. */
  hold(isHeld: boolean): (() => void) | undefined {
    if (!isHeld) return undefined;
    const one = Symbol();
    this.#held.add(one);
    return () => this.#held.delete(one);
  }

  /** Leaves at once, or asks. Gives whether it was done at once. */
  leave(go: () => void): boolean {
    const isHeld = this.#held.size > 0;
    if (isHeld) this.question = go;
    else go();
    return !isHeld;
  }

  /** The answer to the question. */
  answer(isLeaving: boolean): void {
    const go = this.question;
    this.question = undefined;
    if (!isLeaving) return;
    this.#held.clear();
    go?.();
  }
}

export const unsaved = new Unsaved();
