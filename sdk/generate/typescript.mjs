// Writes the types and operations of the TypeScript package.
import { camel, pascal } from './model.mjs';

const PRIMITIVES = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean' };
const DOC_CHARS_MAX = 96;

export function typesText({ types, version }, notice) {
  const parts = types.map((type) =>
    type.alias
      ? `${doc(type.doc)}export type ${type.name} = ${text(type.alias)};\n`
      : `${doc(type.doc)}export interface ${type.name} {\n${members(type.members)}}\n`,
  );
  const head = `/** The version of the interface that these types describe. */\nexport const VERSION = '${version}';\n`;
  return [`// ${notice}\n`, head, ...parts].join('\n');
}

export function operationsText({ own, groups }, notice) {
  const all = [...own, ...groups.flatMap((group) => group.operations)];
  const queries = all.filter((one) => one.query.length > 0).map(query);
  const classes = groups.map((group) => groupText(group));
  const used = new Set(all.flatMap(imports));
  const core = [
    'Feed',
    'FileBody',
    'FileOptions',
    'Group',
    'Paged',
    'RequestOptions',
    'UnkeyedOptions',
    'WriteOptions',
  ];
  const written = [...queries, ...classes, ...own.map(method)].join('');
  const values = ['Feed', 'Group', 'Paged'];
  const named = core
    .filter((name) => name === 'Group' || new RegExp(`\\b${name}\\b`).test(written))
    .map((name) => (values.includes(name) ? name : `type ${name}`));
  return [
    `// ${notice}\n`,
    `import {\n${named.map((name) => `  ${name},\n`).join('')}} from './core.js';\n` +
      `import type {\n${[...used]
        .sort()
        .map((name) => `  ${name},\n`)
        .join('')}} from './types.js';\n`,
    ...queries,
    ...classes,
    rootText(own, groups),
  ].join('\n');
}

function text(type) {
  switch (type.kind) {
    case 'ref':
      return type.to;
    case 'literal':
      return type.values.map((value) => quoted(value)).join(' | ');
    case 'array': {
      const item = text(type.item);
      return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
    }
    case 'map':
      return `Record<string, ${text(type.value)}>`;
    case 'union':
      return type.of.map(text).join(' | ');
    case 'null':
      return 'null';
    default:
      return PRIMITIVES[type.kind] ?? 'unknown';
  }
}

const quoted = (value) =>
  typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : JSON.stringify(value);

function members(all) {
  return all
    .map((member) => {
      const key = /^[A-Za-z_]\w*$/.test(member.name) ? member.name : quoted(member.name);
      const mark = member.isRequired ? '' : '?';
      return `${doc(member.doc, '  ')}  ${key}${mark}: ${text(member.type)};\n`;
    })
    .join('');
}

function doc(words, indent = '') {
  const lines = words.replaceAll('*/', '*\\/').split('\n');
  if (!words) return '';
  if (lines.length === 1 && words.length + indent.length <= DOC_CHARS_MAX) {
    return `${indent}/** ${words} */\n`;
  }
  const rest = lines.map((line) => `${indent} *${line ? ` ${line}` : ''}\n`).join('');
  return `${indent}/**\n${rest}${indent} */\n`;
}

const queryName = (one) => `${pascal(one.id)}Query`;
const isQueryNeeded = (one) => one.query.some((parameter) => parameter.isRequired);

function query(one) {
  return `/** What to ask \`${one.id}\` for. */\nexport interface ${queryName(one)} {\n${members(one.query)}}\n`;
}

function imports(one) {
  const of = (type) => {
    if (type.kind === 'ref') return [type.to];
    if (type.kind === 'array') return of(type.item);
    if (type.kind === 'map') return of(type.value);
    return type.kind === 'union' ? type.of.flatMap(of) : [];
  };
  const all = [one.reply, one.body?.type, one.paging?.item, ...one.query.map((each) => each.type)];
  return all.filter((type) => type).flatMap(of);
}

const className = (group) => `${pascal(group.name)}Operations`;

function groupText(group) {
  const name = className(group);
  const doc = `/** The operations of \`${group.name}\`. */\n`;
  return `${doc}export class ${name} extends Group {\n${group.operations.map(method).join('\n')}}\n`;
}

function rootText(own, groups) {
  const fields = groups.map(
    (group) => `  readonly ${camel(group.name)} = new ${className(group)}(this.core);\n`,
  );
  return (
    '/** Every operation of the interface. */\nexport class Operations extends Group {\n' +
    `${fields.join('')}\n${own.map(method).join('\n')}}\n`
  );
}

function options(one) {
  if (one.body?.media) return 'FileOptions';
  if (one.isKeyed) return 'WriteOptions';
  return one.body ? 'UnkeyedOptions' : 'RequestOptions';
}

function method(one) {
  const args = one.variables.map((variable) => `${camel(variable.name)}: ${text(variable.type)}`);
  const sent = [];
  if (one.variables.length > 0) {
    const named = one.variables.map(({ name }) =>
      camel(name) === name ? name : `${quoted(name)}: ${camel(name)}`,
    );
    sent.push(`variables: { ${named.join(', ')} }`);
  }
  if (one.query.length > 0) {
    args.push(`query: ${queryName(one)}${isQueryNeeded(one) ? '' : ' = {}'}`);
    sent.push('query: { ...query }');
  }
  if (one.body?.media) {
    args.push('file: FileBody');
    sent.push('file');
  } else if (one.body) {
    args.push(`body: ${text(one.body.type)}${one.body.isNeeded ? '' : ' = {}'}`);
    sent.push('body');
  }
  args.push(`options: ${options(one)} = {}`);
  const facts = [`method: '${one.method}'`, `path: '${one.path}'`];
  if (one.isKeyed) facts.push('isKeyed: true');
  const call = `{ ${[...facts, ...sent].join(', ')} }`;
  const reply = text(one.reply);
  const kinds = { cursor: 'Paged', after: 'Feed' };
  const list = one.paging && `${kinds[one.paging.by]}<${text(one.paging.item)}, ${reply}>`;
  const made = list
    ? `return new ${list}(this.core, ${call}, options);`
    : `return this.core.send<${reply}>(${call}, options);`;
  const result = list || `Promise<${reply}>`;
  return `${doc(about(one), '  ')}  ${camel(one.name)}(${args.join(', ')}): ${result} {\n    ${made}\n  }\n`;
}

function about(one) {
  const parts = [one.summary];
  if (one.doc) parts.push(one.doc);
  if (one.scheme && one.scheme !== 'apiKey') {
    parts.push(`Needs a client with a \`${one.scheme}\`.`);
  } else
    parts.push(one.scope ? `Needs the scope \`${one.scope}\`.` : one.scheme ? '' : 'Needs no key.');
  return parts.filter((part) => part).join('\n\n');
}
