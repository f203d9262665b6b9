// What the reference tables have for values of a form: the city of a ZIP code, the name of a category. The
// server checks them again.
import { ApiError, get, rest } from './api';
import { Resource } from './resource.svelte';
import { texts } from './texts';

const t = texts.merchants.onboard;

interface Place {
  city: string;
  state: string;
}

interface Category {
  code: string;
  description: string;
}

export interface Found {
  text: string;
  isBad: boolean;
}

export const MCC = 'storeData.mccCode';
const ZIPS = ['merchantData.zipCode', 'storeData.zipCode'];
const FOUND_MAX = 20;

export class Lookups {
  /** By the path of the field. */
  found = $state<Record<string, Found>>({});
  readonly #categories = new Resource(() =>
    get<Category[]>(rest('boardwalk/v1/merchant-categories')),
  );

  /** What `values` reads of the state decides what is looked up. */
  constructor(values: () => Record<string, unknown>) {
    $effect(() => {
      for (const path of ZIPS) {
        const zip = String(values()[path] ?? '');
        delete this.found[path];
        if (/^\d{5}$/.test(zip))
          void placeOf(zip).then(
            (found) => found && values()[path] === zip && (this.found[path] = found),
          );
      }
    });
    $effect(() => {
      const code = String(values()[MCC] ?? '');
      delete this.found[MCC];
      const categories = this.#categories.value;
      if (!/^\d{4}$/.test(code) || !categories) return;
      const found = categories.find((one) => one.code === code);
      this.found[MCC] = { text: found?.description ?? t.noMcc, isBad: !found };
    });
  }

  /** Categories by words of their names, or the beginning of their codes. */
  findCategory = async (text: string): Promise<{ id: string; name: string }[]> => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ code, description }: Category): boolean =>
      words.every((word) => code.startsWith(word) || description.toLowerCase().includes(word));
    return (this.#categories.value ?? [])
      .filter(fits)
      .slice(0, FOUND_MAX)
      .map(({ code, description }) => ({ id: code, name: `${code} ${description}` }));
  };
}

/** Nothing where the table cannot be asked. */
async function placeOf(zip: string): Promise<Found | undefined> {
  try {
    const place = await get<Place>(rest(`boardwalk/v1/zip-codes/${zip}`));
    return { text: `${place.city}, ${place.state}`, isBad: false };
  } catch (error) {
    return error instanceof ApiError && error.status === 404
      ? { text: t.noZip, isBad: true }
      : undefined;
  }
}
