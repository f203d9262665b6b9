// A record of the REST interface that somebody edits: a new one, or the one that an address names. What is
// sent is what was filled in, or what is not as it was.
import { get, rest, write } from './api';
import { changed, fieldsOf, given, type Field } from './fields';
import { Resource } from './resource.svelte';
import { here } from './router.svelte';
import { texts } from './texts';

/** Stands in an address for the id of what is yet to be made. */
export const NEW = 'new';

interface Loaded<T> {
  found: T & Record<string, unknown>;
  fields: Field[];
}

interface Source {
  /** The route of the list. */
  list: string;
  /** The page of the list in the portal, below which each record has its own. */
  page: string;
  id: () => string;
  /** The fields that can be edited, in their order. */
  names: readonly string[];
  /** What a new one begins with. */
  start?: Record<string, unknown>;
}

export class Editing<T> {
  values = $state<Record<string, unknown>>({});
  readonly source: Source;
  readonly loaded: Resource<Loaded<T>>;

  constructor(source: Source) {
    this.source = source;
    const { list, id, names, start = {} } = source;
    this.loaded = new Resource(async (signal) => {
      const isNew = id() === NEW;
      const path = this.path;
      const [fields, found] = await Promise.all([
        fieldsOf(rest(list), names),
        isNew ? start : get<Record<string, unknown>>(path, { context: 'edit' }, signal),
      ]);
      this.values = Object.fromEntries(names.map((name) => [name, found[name]]));
      return { fields, found: found as Loaded<T>['found'] };
    });
  }

  get isNew(): boolean {
    return this.source.id() === NEW;
  }

  get path(): string {
    return rest(`${this.source.list}/${this.source.id()}`);
  }

  /** Whether something is not as it was. */
  get isChanged(): boolean {
    const found = this.loaded.value?.found;
    return found !== undefined && Object.keys(changed(this.values, found)).length > 0;
  }

  async save(): Promise<string> {
    if (this.isNew) {
      const made = await write<{ id: number }>('POST', rest(this.source.list), given(this.values));
      here.go(`${this.source.page}/${made.id}`, true);
      return texts.saved;
    }
    const body = changed(this.values, this.loaded.value?.found ?? {});
    if (Object.keys(body).length) await write('PUT', this.path, body);
    await this.loaded.reload();
    return texts.saved;
  }

  /** Deletes it for good; `query` is what else the route wants to know. */
  async remove(query = ''): Promise<void> {
    await write('DELETE', `${this.path}?force=true${query}`);
    here.go(this.source.page);
  }
}
