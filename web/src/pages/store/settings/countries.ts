// The countries that the shop's interface knows, asked once.
import { get, rest } from '../../../lib/api';

export interface Country {
  code: string;
  name: string;
}

let asked: Promise<Country[]> | undefined;

export function countries(): Promise<Country[]> {
  asked ??= get<Country[]>(rest('wc/v3/data/countries'), { _fields: 'code,name' });
  asked.catch(() => (asked = undefined));
  return asked;
}
