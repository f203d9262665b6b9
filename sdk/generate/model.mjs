// Reads the OpenAPI document of the onboarding interface into what both packages are written from:
// types with names, and groups of operations. Knows nothing of the languages they are written in.
//
// An object that the document describes in place gets a name: that of its member, and where several
// unlike ones share it, the largest has it and the others say what they hold or belong to.

/** Credentials that a program can hold; what needs a signed-in person is left to the portal. */
const CREDENTIALS = ['apiKey', 'deviceToken', 'pairingCode'];
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const BLANK = '#/components/schemas/Blank';
const JSON_TYPE = 'application/json';
/** Members that tell a small object from the others of its name. */
const TELLING_MAX = 2;
/** Names of members that say nothing without their parent's. */
const VAGUE = ['Data'];

export function read(document) {
  const types = new Types();
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (name !== 'Blank') types.declare(name, schema);
  }
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method])
      .map((method) => operation(types, path, method, methods[method]))
      .filter((found) => found),
  );
  types.settle();
  const pages = new Map(types.all.map((type) => [type.name, type]));
  for (const one of operations) one.paging = paging(one, pages);
  const { own, groups } = grouped(operations);
  return { version: document.info.version, types: reached(types.all, operations), own, groups };
}

export const words = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+|\s/)
    .filter((word) => word)
    .map((word) => word.toLowerCase());
export const pascal = (name) =>
  words(name)
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join('');
export const camel = (name) =>
  words(name)
    .map((word, at) => (at ? word[0].toUpperCase() + word.slice(1) : word))
    .join('');
export const snake = (name) => words(name).join('_');

/** Every type in an expression that has a name. */
export function refs(type) {
  if (type.kind === 'ref') return [type.to];
  if (type.kind === 'array') return refs(type.item);
  if (type.kind === 'map') return refs(type.value);
  if (type.kind === 'union') return type.of.flatMap(refs);
  return [];
}

const UNKNOWN = { kind: 'unknown' };
const NULL = { kind: 'null' };
const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);

function union(of) {
  const flat = of.flatMap((type) => (type.kind === 'union' ? type.of : [type]));
  if (flat.some((type) => type.kind === 'unknown')) return UNKNOWN;
  const distinct = flat.filter((type, at) => flat.findIndex((other) => same(type, other)) === at);
  // Null comes last, as people write it.
  distinct.sort((left, right) => (left.kind === 'null') - (right.kind === 'null'));
  return distinct.length === 1 ? distinct[0] : { kind: 'union', of: distinct };
}

/** The types with names, and those that wait for one. */
class Types {
  all = [];
  #waiting = new Map();

  /** A schema that has a name of its own. */
  declare(name, schema) {
    const doc = schema.description ?? '';
    const variants = schema.anyOf ?? schema.oneOf;
    if (variants) {
      const of = variants.map((variant, at) => this.#variant(variant, name, at));
      this.all.push({ name, doc, alias: union(of) });
    } else if (schema.properties || schema.type === 'object') {
      const isMap = !schema.properties && schema.additionalProperties;
      this.all.push(
        isMap
          ? { name, doc, alias: this.of(schema, name, name) }
          : { name, doc, members: this.#members(schema, name) },
      );
    } else this.all.push({ name, doc, alias: this.of(schema, name, name) });
    return { kind: 'ref', to: name };
  }

  /** What a schema is; `hint` names it, should it be an object, and `parent` holds it. */
  of(schema, hint, parent) {
    if (!schema || schema === true) return UNKNOWN;
    if (schema.$ref === BLANK) return NULL;
    if (schema.$ref) return { kind: 'ref', to: schema.$ref.split('/').pop() };
    const variants = schema.anyOf ?? schema.oneOf;
    if (variants) {
      return union(variants.map((variant) => this.#alternative(variant, hint, parent)));
    }
    if (schema.const !== undefined) return { kind: 'literal', values: [schema.const] };
    const kinds = [schema.type ?? (schema.properties ? 'object' : [])].flat();
    if (kinds.length === 0) return UNKNOWN;
    return union(kinds.map((kind) => this.#single(kind, schema, hint, parent)));
  }

  /** Gives names to the objects that wait for one. */
  settle() {
    const objects = [...this.#waiting.values()];
    const taken = new Set(this.all.map((type) => type.name));
    objects.sort((left, right) => right.members.length - left.members.length);
    for (const object of objects) {
      const telling = object.members.map((member) => pascal(member.name)).join('And');
      const isSmall = object.members.length > 0 && object.members.length <= TELLING_MAX;
      const whole = `${object.parent}${object.hint}`;
      const wishes = VAGUE.includes(object.hint) ? [whole] : [object.hint, whole];
      if (isSmall && wishes.length > 1) wishes.splice(1, 0, `${object.hint}With${telling}`);
      let name = wishes.find((wish) => !taken.has(wish));
      for (let number = 2; !name; number += 1) {
        const wish = `${whole}${number}`;
        if (!taken.has(wish)) name = wish;
      }
      taken.add(name);
      object.ref.to = name;
      this.all.push({ name, doc: object.doc, members: object.members });
    }
  }

  #single(kind, schema, hint, parent) {
    if (kind === 'array') {
      return { kind: 'array', item: this.of(schema.items, singular(hint), parent) };
    }
    if (kind === 'object') {
      if (schema.properties) return this.#object(schema, hint, parent);
      const value = this.of(schema.additionalProperties || true, `${hint}Value`, parent);
      return { kind: 'map', value };
    }
    if (schema.enum && kind === 'string') {
      return { kind: 'literal', values: schema.enum.filter((value) => value !== null) };
    }
    return { kind };
  }

  /** A variant of a type with a name; without one of its own it is numbered. */
  #variant(schema, name, at) {
    if (!schema.properties) return this.of(schema, name, name);
    return this.declare(`${name}${at + 1}`, schema);
  }

  /** A variant in place: the constant that tells it apart is part of its name. */
  #alternative(schema, hint, parent) {
    const constants = Object.values(schema.properties ?? {}).map((member) => member.const);
    const told = constants.find((value) => typeof value === 'string');
    return this.of(
      schema,
      told ? `${hint}${pascal(told)}` : hint,
      told ? `${hint}${pascal(told)}` : parent,
    );
  }

  #object(schema, hint, parent) {
    const name = pascal(hint);
    const members = this.#members(schema, parent);
    const key = JSON.stringify([name, members.map(({ doc: _, ...member }) => member)]);
    const known = this.#waiting.get(key);
    if (known) return known.ref;
    const ref = { kind: 'ref', to: key };
    const doc = schema.description ?? '';
    this.#waiting.set(key, { hint: name, parent: pascal(parent), members, doc, ref });
    return ref;
  }

  #members(schema, parent) {
    const required = schema.required ?? [];
    return Object.entries(schema.properties ?? {}).map(([name, member]) => ({
      name,
      doc: member.description ?? '',
      isRequired: required.includes(name),
      type: this.of(member, name, parent),
    }));
  }
}

const singular = (name) => name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');

function operation(types, path, method, found) {
  const schemes = (found.security ?? []).flatMap((one) => Object.keys(one));
  if (schemes.some((scheme) => !CREDENTIALS.includes(scheme))) return null;
  const parameters = found.parameters ?? [];
  const place = (wanted) =>
    parameters
      .filter((parameter) => parameter.in === wanted)
      .map((parameter) => ({
        name: parameter.name,
        doc: parameter.description ?? parameter.schema.description ?? '',
        isRequired: parameter.required === true,
        type: types.of(parameter.schema, parameter.name, found.operationId),
      }));
  const headers = parameters.filter((parameter) => parameter.in === 'header');
  const reply = found.responses['200']?.content?.[JSON_TYPE]?.schema;
  return {
    id: found.operationId,
    method: method.toUpperCase(),
    path,
    tag: found.tags[0],
    summary: found.summary,
    doc: found.description ?? '',
    scope: found['x-scope'],
    scheme: schemes[0],
    variables: place('path'),
    query: place('query'),
    body: body(types, found),
    /** Whether a repetition gets the first answer. */
    isKeyed: headers.some((parameter) => parameter.name === 'Idempotency-Key'),
    reply: reply ? types.of(reply, `${pascal(found.operationId)}Reply`, '') : UNKNOWN,
  };
}

function body(types, found) {
  const content = found.requestBody?.content;
  if (!content) return null;
  const schema = content[JSON_TYPE]?.schema;
  if (!schema) return { media: Object.keys(content) };
  const type = types.declare(schema.title ?? pascal(found.operationId), schema);
  const isNeeded = Boolean(schema.anyOf ?? schema.oneOf) || (schema.required ?? []).length > 0;
  return { type, isNeeded };
}

/** How an operation's pages follow each other, and what is on them. */
function paging(one, types) {
  const page = one.reply.kind === 'ref' ? types.get(one.reply.to) : undefined;
  const members = new Map((page?.members ?? []).map((member) => [member.name, member]));
  const item = members.get('data')?.type.item;
  const asks = (name) => one.query.some((parameter) => parameter.name === name);
  if (item && asks('cursor') && members.has('nextCursor')) return { by: 'cursor', item };
  if (item && asks('after') && members.has('next')) return { by: 'after', item };
  return null;
}

/** Operations by their tag; one whose name does not start with its tag's noun keeps it whole, and one
 * that is alone in its tag then belongs to no group. */
function grouped(operations) {
  const groups = new Map();
  for (const one of operations) {
    const group = groups.get(one.tag) ?? { name: one.tag, operations: [] };
    groups.set(one.tag, group);
    const nouns = [one.tag, singular(one.tag)].map((noun) => `${noun}_`);
    const noun = nouns.find((start) => one.id.startsWith(start));
    group.operations.push({ ...one, name: noun ? one.id.slice(noun.length) : one.id });
  }
  const isAlone = (group) =>
    group.operations.length === 1 && group.operations[0].name === group.operations[0].id;
  const all = [...groups.values()];
  return {
    own: all.filter(isAlone).flatMap((group) => group.operations),
    groups: all.filter((group) => !isAlone(group)),
  };
}

/** The types that operations need, in the order of the document. */
function reached(all, operations) {
  const byName = new Map(all.map((type) => [type.name, type]));
  const wanted = new Set(['ErrorItem']);
  const visit = (type) => {
    for (const name of refs(type)) {
      if (wanted.has(name)) continue;
      wanted.add(name);
      inside(byName.get(name));
    }
  };
  const inside = (type) => {
    if (type.alias) visit(type.alias);
    for (const member of type.members ?? []) visit(member.type);
  };
  for (const name of wanted) inside(byName.get(name));
  for (const one of operations) {
    visit(one.reply);
    if (one.body?.type) visit(one.body.type);
    for (const parameter of [...one.variables, ...one.query]) visit(parameter.type);
  }
  return all.filter((type) => wanted.has(type.name));
}
