// Files of rows, one onboarding each: JSON lines, or CSV under a header. Rows keep their own text, so
// that single ones can be fixed and sent again.

export interface RowsFile {
  type: 'text/csv' | 'application/x-ndjson';
  /** The line above the rows, of CSV alone. */
  header: string;
  rows: string[];
}

export function readRows(name: string, text: string): RowsFile {
  if (!name.toLowerCase().endsWith('.csv')) {
    return {
      type: 'application/x-ndjson',
      header: '',
      rows: text.split(/\r?\n/).filter((line) => line.trim() !== ''),
    };
  }
  const [header = '', ...rows] = records(text);
  return { type: 'text/csv', header, rows };
}

/** The same kind of file with other rows. */
export const fileOf = (file: RowsFile, rows: readonly string[]): Blob =>
  new Blob([[...(file.header ? [file.header] : []), ...rows].join('\n'), '\n'], {
    type: file.type,
  });

/** One row as a file of CSV. */
export function csvOf(row: Record<string, string>): string {
  const quoted = (cell: string): string =>
    /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  return [Object.keys(row), Object.values(row)]
    .map((line) => `${line.map(quoted).join(',')}\n`)
    .join('');
}

/** Records of CSV with their text as it stands: a line end between quotes does not end one. */
function records(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at <= text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    if (at < text.length && (isQuoted || text[at] !== '\n')) continue;
    const record = text.slice(start, at).replace(/\r$/, '');
    if (record.trim() !== '') found.push(record);
    start = at + 1;
  }
  return found;
}

/** The cells of one record. */
export function cells(record: string): string[] {
  const found: string[] = [];
  for (const match of record.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    found.push(match[1] !== undefined ? match[1].replaceAll('""', '"') : (match[2] ?? ''));
  }
  return found;
}

/** The fields of a row by their paths, as far as it can be read. */
export function fieldsOfRow(file: RowsFile, row: string): Record<string, string> {
  if (file.type === 'text/csv') {
    const values = cells(row);
    return Object.fromEntries(cells(file.header).map((name, index) => [name, values[index] ?? '']));
  }
  return flatRow(row);
}

/** The fields of a row of JSON by their paths. */
export function flatRow(row: string): Record<string, string> {
  const flat: Record<string, string> = {};
  const walk = (value: unknown, path: string): void => {
    if (value !== null && typeof value === 'object')
      for (const [name, inner] of Object.entries(value))
        walk(inner, path ? `${path}.${name}` : name);
    else flat[path] = String(value);
  };
  try {
    walk(JSON.parse(row), '');
  } catch {
    // What is no JSON is shown as it stands; the server says what is wrong with it.
    flat[''] = row;
  }
  return flat;
}
