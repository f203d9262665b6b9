// Something that may be wider or taller than its place can be scrolled with the keyboard, too. What
// fits stays out of the way of the tabulator key. A table of records becomes a list of cards on a
// narrow screen: its cells then tell their heads themselves.
import type { Action } from 'svelte/action';

/** A table with more columns is for scrolling; one with fewer fits. */
const COLUMNS_MIN = 3;
const COLUMNS_MAX = 10;

function label(table: HTMLTableElement): void {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map(
    (cell) => cell.textContent?.trim() ?? '',
  );
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  const isPlain = rows.every((row) => row.cells.length === heads.length);
  table.classList.toggle(
    'cards',
    isPlain && heads.length >= COLUMNS_MIN && heads.length <= COLUMNS_MAX,
  );
  if (!table.classList.contains('cards')) return;
  // Laid out as blocks, it would be no table for screen readers.
  table.role = 'table';
  for (const row of table.rows) row.role = 'row';
  for (const head of table.tHead?.rows[0]?.cells ?? []) head.role = 'columnheader';
  for (const row of rows) {
    for (const [index, cell] of [...row.cells].entries()) {
      cell.role = 'cell';
      cell.dataset.label = heads[index] ?? '';
    }
  }
}

export const wide: Action<HTMLElement> = (node) => {
  const look = (): void => {
    for (const table of node.querySelectorAll('table')) label(table);
    const isScrolled = node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight;
    if (isScrolled) node.tabIndex = 0;
    else node.removeAttribute('tabindex');
  };
  const sizes = new ResizeObserver(look);
  const content = new MutationObserver(look);
  sizes.observe(node);
  content.observe(node, { childList: true, subtree: true, characterData: true });
  return {
    destroy() {
      sizes.disconnect();
      content.disconnect();
    },
  };
};
