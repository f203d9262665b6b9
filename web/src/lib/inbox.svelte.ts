// How many notes of the inbox nobody has read yet.
import { getPage, rest } from './api';

class Inbox {
  unread = $state(0);

  /** Nobody misses the number when it cannot be had. */
  async count(): Promise<void> {
    try {
      const found = await getPage<unknown[]>(rest('wc-analytics/admin/notes'), {
        is_read: false,
        status: ['unactioned', 'actioned'],
        per_page: 1,
        _fields: 'id',
      });
      this.unread = found.total;
    } catch {
      this.unread = 0;
    }
  }
}

export const inbox = new Inbox();
