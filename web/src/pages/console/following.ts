// Looks again a few times for what became of something that was just sent.

const LOOKS_MS = [0, 700, 1500, 3000, 6000];

/** Calls `look` now and a few times later; what it gives ends that. */
export function following(look: () => void): () => void {
  const timers = LOOKS_MS.map((wait) => setTimeout(look, wait));
  return () => timers.forEach(clearTimeout);
}
