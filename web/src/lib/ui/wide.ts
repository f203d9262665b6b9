// Something that may be wider or taller than its place can be scrolled with the keyboard, too. What
// fits stays out of the way of the tabulator key.
import type { Action } from 'svelte/action';

export const wide: Action<HTMLElement> = (node) => {
  const look = (): void => {
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
