// Keys that work on every page. Letters do nothing while somebody types.
import { here } from './router.svelte';
import { texts } from './texts';

/** After `g`: where a letter leads. */
export const PLACES: Record<string, { path: string; label: string }> = {
  a: { path: '/analytics', label: texts.analytics.overview },
  o: { path: '/store/orders', label: texts.store.orders.title },
  c: { path: '/store/customers', label: texts.store.customers.title },
  p: { path: '/store/products', label: texts.store.products.title },
  m: { path: '/merchants', label: texts.merchants.title },
};

/** A second key counts as one with the first within this time. */
const TOGETHER_MS = 1200;

export type Opened = 'palette' | 'help';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Listens until what it returns is called. */
export function listen(open: (what: Opened) => void): () => void {
  let wasG = 0;
  const press = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      open('palette');
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    // A dialog has its own keys.
    if (document.querySelector('dialog[open]')) return;
    const place = Date.now() - wasG < TOGETHER_MS ? PLACES[event.key] : undefined;
    wasG = event.key === 'g' ? Date.now() : 0;
    if (place) here.go(place.path);
    else if (event.key === '?') open('help');
    else if (event.key === '/') {
      const field = document.querySelector<HTMLElement>('main input[type=search]');
      if (!field) return;
      field.focus();
      event.preventDefault();
    }
  };
  addEventListener('keydown', press);
  return () => removeEventListener('keydown', press);
}
