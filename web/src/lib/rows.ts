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

const quoted = (cell: string): string =>
  /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
const recordOf = (line: readonly string[]): string => line.map(quoted).join(',');

/** One row as a file of CSV. */
export const csvOf = (row: Record<string, string>): string =>
  [Object.keys(row), Object.values(row)].map((line) => `${recordOf(line)}\n`).join('');

/** The path of a field as columns are called: items of a list by their numbers. */
export const columnOf = (param: string): string => param.replace(/\[(\d+)\]/g, '.$1');

/** The whole of a row, where an error is about no field of it. */
export const WHOLE = '';

/**
 * The file with other cells, by the index of the row and the path of the field. A column that the file has
 * not is added to it.
 */
export function withCells(
  file: RowsFile,
  changes: Record<number, Record<string, string>>,
): RowsFile {
  const header = file.type === 'text/csv' ? cells(file.header) : [];
  const rows = [...file.rows];
  for (const [at, fields] of Object.entries(changes)) {
    const index = Number(at);
    let row = fields[WHOLE] ?? rows[index] ?? '';
    for (const [path, value] of Object.entries(fields))
      if (path !== WHOLE)
        row =
          file.type === 'text/csv'
            ? withCell(header, row, path, value)
            : withMember(row, path, value);
    rows[index] = row;
  }
  return { ...file, header: header.length ? recordOf(header) : file.header, rows };
}

function withCell(header: string[], row: string, path: string, value: string): string {
  if (!header.includes(path)) header.push(path);
  const values = cells(row);
  while (values.length < header.length) values.push('');
  values[header.indexOf(path)] = value;
  return recordOf(values);
}

function withMember(row: string, path: string, value: string): string {
  try {
    const whole = JSON.parse(row) as Record<string, unknown>;
    const steps = path.split('.');
    let place = whole;
    for (const [index, step] of steps.slice(0, -1).entries()) {
      place[step] ??= /^\d+$/.test(steps[index + 1] ?? '') ? [] : {};
      place = place[step] as Record<string, unknown>;
    }
    const last = steps.at(-1) ?? '';
    if (value === '') delete place[last];
    else place[last] = value;
    return JSON.stringify(whole);
  } catch {
    return row;
  }
}

/** The text of a file; nothing when it is none, as a picture is none. */
export async function textOf(file: File): Promise<string | undefined> {
  if (!/\.(csv|json|jsonl|ndjson)$/i.test(file.name)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
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
