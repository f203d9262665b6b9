// Writes the types and operations of the Python package.
import { pascal, snake } from './model.mjs';

const PRIMITIVES = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};
const LINE_CHARS_MAX = 100;
const RESERVED = ['from', 'class', 'global', 'import', 'return', 'pass', 'in', 'is', 'not', 'with'];
/** What each kind of call may be told besides its content. */
const WRITE_OPTIONS = [
  ['idempotency_key', 'str | None'],
  ['if_match', 'str | None'],
];
const TRIAL_OPTIONS = [
  ['validate_only', 'bool'],
  ['sandbox_scenario', 'str | None'],
];

export function typesText({ types, version }, notice) {
  const parts = types.filter((type) => type.members).map(classText);
  const aliases = types.filter((type) => type.alias).map(aliasText);
  return (
    `# ${notice}\n"""The objects that requests and responses hold."""\n\n` +
    'from __future__ import annotations\n\n' +
    'from typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n\n' +
    `VERSION = "${version}"\n"""The version of the interface that these types describe."""\n\n\n` +
    [...parts, ...aliases].join('\n\n')
  );
}

const className = (group) => `${pascal(group.name)}Operations`;

export function operationsText({ own, groups }, notice) {
  const classes = groups.map(
    (group) =>
      `class ${className(group)}(Group):\n    """The operations of \`${group.name}\`."""\n\n` +
      group.operations.map(method).join('\n'),
  );
  const fields = groups.map(
    (group) => `        self.${snake(group.name)} = ${className(group)}(core)\n`,
  );
  const root =
    'class Operations(Group):\n    """Every operation of the interface."""\n\n' +
    '    def __init__(self, core: Core) -> None:\n        super().__init__(core)\n' +
    `${fields.join('')}\n${own.map(method).join('\n')}`;
  return (
    `# ${notice}\n"""The operations of the interface, in groups."""\n\n` +
    'from __future__ import annotations\n\n' +
    'from typing import Literal\n\n' +
    'from . import types\nfrom ._core import Core, Feed, FileBody, Group, Paged\n\n\n' +
    [...classes, root].join('\n\n')
  );
}

/** A type as annotation; `of` is what names of types start with. */
function text(type, of = '') {
  switch (type.kind) {
    case 'ref':
      return `${of}${type.to}`;
    case 'literal':
      return `Literal[${type.values.map((value) => JSON.stringify(value)).join(', ')}]`;
    case 'array':
      return `list[${text(type.item, of)}]`;
    case 'map':
      return `dict[str, ${text(type.value, of)}]`;
    case 'union':
      return type.of.map((each) => text(each, of)).join(' | ');
    default:
      return PRIMITIVES[type.kind] ?? 'Any';
  }
}

function aliasText(type) {
  const line = `${type.name}: TypeAlias = ${text(type.alias)}\n`;
  return `${line}${docText(type.doc, '')}`;
}

function classText(type) {
  if (type.members.some((member) => RESERVED.includes(member.name))) return functionText(type);
  const members = type.members.map((member) => {
    const inner = text(member.type);
    const whole = member.isRequired ? inner : `NotRequired[${inner}]`;
    return `${wrapped(`    ${member.name}: `, whole)}${docText(member.doc, '    ')}`;
  });
  const body = members.join('') || (type.doc ? '' : '    pass\n');
  return `class ${type.name}(TypedDict):\n${docText(type.doc, '    ')}${type.doc && body ? '\n' : ''}${body}`;
}

/** A class cannot have a member whose name is a word of the language; a call can. */
function functionText(type) {
  const members = type.members.map((member) => {
    const inner = text(member.type);
    const whole = member.isRequired ? inner : `NotRequired[${inner}]`;
    const comment = member.doc ? `    # ${member.doc.replaceAll('\n', ' ')}\n` : '';
    return `${comment}    "${member.name}": ${whole},\n`;
  });
  const call = `${type.name} = TypedDict("${type.name}", {\n${members.join('')}})\n`;
  return `${call}${docText(type.doc, '')}`;
}

/** An annotation on a line of its own, or broken at its commas if it is too long. */
function wrapped(start, annotation) {
  if (start.length + annotation.length <= LINE_CHARS_MAX) return `${start}${annotation}\n`;
  const indent = start.match(/^ */)[0];
  const broken = annotation.replace(/Literal\[([^\]]*)\]/g, (_, values) => {
    const lines = values.split(/(?<="), (?=")/).map((value) => `${indent}    ${value},\n`);
    return `Literal[\n${lines.join('')}${indent}]`;
  });
  return `${start}${broken}\n`;
}

function docText(words, indent) {
  if (!words) return '';
  const safe = words.replaceAll('\\', '\\\\').replaceAll('"""', "'''");
  const lines = safe.split('\n').map((line, at) => (at && line ? indent + line : line));
  if (lines.length === 1) return `${indent}"""${safe}"""\n`;
  return `${indent}"""${lines.join('\n')}\n${indent}"""\n`;
}

const argument = (name) => (RESERVED.includes(snake(name)) ? `${snake(name)}_` : snake(name));

function method(one) {
  const given = one.variables.map((each) => `${argument(each.name)}: ${text(each.type, 'types.')}`);
  const facts = [`"${one.method}"`, `"${one.path}"`];
  if (one.variables.length > 0) {
    facts.push(
      `variables={${one.variables.map((each) => `"${each.name}": ${argument(each.name)}`).join(', ')}}`,
    );
  }
  if (one.body?.media) {
    given.push('file: FileBody');
    facts.push('file=file');
  } else if (one.body) {
    const type = text(one.body.type, 'types.');
    given.push(one.body.isNeeded ? `body: ${type}` : `body: ${type} | None = None`);
    facts.push(one.body.isNeeded ? 'body=body' : 'body=body or {}');
  }
  const named = one.query.map((each) => {
    const type = text(each.type, 'types.').replace(/ \| None$/, '');
    const whole = `${type}${each.isRequired ? '' : ' | None = None'}`;
    return wrapped(`        ${argument(each.name)}: `, whole).trim();
  });
  if (one.query.length > 0) {
    facts.push(
      `query={\n${one.query.map((each) => `                "${each.name}": ${argument(each.name)},\n`).join('')}            }`,
    );
  }
  if (one.body?.media) {
    named.push('content_type: str | None = None');
    facts.push('content_type=content_type');
  }
  const extras = [...(one.isKeyed ? WRITE_OPTIONS : []), ...(one.body ? TRIAL_OPTIONS : [])];
  for (const [name, type] of extras) {
    named.push(`${name}: ${type} = ${type === 'bool' ? 'False' : 'None'}`);
    facts.push(`${name}=${name}`);
  }
  if (one.isKeyed) facts.push('is_keyed=True');
  const args = ['self', ...given, ...(named.length > 0 ? ['*', ...named] : [])];
  const reply = text(one.reply, 'types.');
  const kinds = { cursor: 'Paged', after: 'Feed' };
  const list =
    one.paging && `${kinds[one.paging.by]}[${text(one.paging.item, 'types.')}, ${reply}]`;
  const call = facts.map((fact) => `            ${fact},\n`).join('');
  const body = list
    ? `        return ${kinds[one.paging.by]}(\n            self._core,\n${call}        )\n`
    : `        reply: ${reply} = self._core.send(\n${call}        )\n        return reply\n`;
  return (
    `    def ${snake(one.name)}(\n${args.map((each) => `        ${each},\n`).join('')}    ) -> ${list || reply}:\n` +
    `${docText(about(one), '        ')}${body}`
  );
}

function about(one) {
  const parts = [one.summary];
  if (one.doc) parts.push(one.doc);
  const told = one.query.filter((each) => each.doc);
  if (told.length > 0) {
    parts.push(
      told.map((each) => `${argument(each.name)}: ${each.doc.replaceAll('\n', ' ')}`).join('\n'),
    );
  }
  if (one.scheme && one.scheme !== 'apiKey') {
    parts.push(`Needs a client with a \`${snake(one.scheme)}\`.`);
  } else
    parts.push(one.scope ? `Needs the scope \`${one.scope}\`.` : one.scheme ? '' : 'Needs no key.');
  return parts.filter((part) => part).join('\n\n');
}
