// How many notes of the inbox nobody has read yet.
import { get, rest } from './api';

/** The list's total is that of the page, so the notes themselves are counted. */
const COUNTED_MAX = 100;

class Inbox {
  unread = $state(0);

  /** Nobody misses the number when it cannot be had. */
  async count(): Promise<void> {
    try {
      const found = await get<unknown[]>(rest('wc-analytics/admin/notes'), {
        is_read: false,
        status: ['unactioned', 'actioned'],
        per_page: COUNTED_MAX,
        _fields: 'id',
      });
      this.unread = found.length;
    } catch {
      this.unread = 0;
    }
  }
}

export const inbox = new Inbox();
