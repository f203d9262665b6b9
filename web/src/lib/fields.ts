// Fields of forms, made from what the server says of its parameters and settings. No rule is written
// down here: bounds, choices and explanations are the server's own.
import type { Named } from './analytics/filters';
import { send, type Json } from './api';
import { texts } from './texts';

const t = texts.fields.errors;

export interface Field {
  name: string;
  label: string;
  hint: string;
  kind:
    | 'text'
    | 'long'
    | 'number'
    | 'amount'
    | 'yes'
    | 'choice'
    | 'choices'
    | 'list'
    | 'moment'
    | 'date'
    | 'secret'
    | 'record';
  /** Finds records by what people call them, for a field that holds the id of one. */
  find?: (text: string) => Promise<Named[]>;
  options: { value: string; text: string }[];
  isRequired: boolean;
  rules: Rules;
  /** Stands above it, where another part of a form begins. */
  heading?: string;
  /** What a browser may fill in by itself. */
  autocomplete?:
    | 'name'
    | 'given-name'
    | 'family-name'
    | 'address-line1'
    | 'address-line2'
    | 'postal-code'
    | 'tel-national'
    | 'organization'
    | 'email'
    | 'tel'
    | 'username'
    | 'new-password'
    | 'current-password'
    | 'one-time-code';
}

export interface Rules {
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  /** What the server calls the kind of text; the texts have a sentence for those that people mistype. */
  format?: string;
}

export interface JsonSchema extends Rules {
  type?: string | string[];
  description?: string;
  title?: string;
  enum?: (string | number | null)[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: boolean | string[];
  readonly?: boolean;
  default?: unknown;
}

/**
 * What the server publishes as "this, or blank" becomes this: nothing here sends what is blank.
 */
export function withoutBlanks<T>(part: T): T {
  if (Array.isArray(part)) return part.map((item: unknown) => withoutBlanks(item)) as T;
  if (typeof part !== 'object' || part === null) return part;
  const { anyOf, ...rest } = part as { anyOf?: { $ref?: string }[] };
  const [value, other] = anyOf ?? [];
  const plain = other?.$ref === '#/components/schemas/Blank' ? { ...value, ...rest } : part;
  return Object.fromEntries(
    Object.entries(plain).map(([name, inner]) => [name, withoutBlanks(inner as unknown)]),
  ) as T;
}

export function labelled(name: string): string {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function fieldOf(name: string, schema: JsonSchema, isRequired = false): Field {
  const types = ([] as string[]).concat(schema.type ?? 'string');
  const choices = (schema.enum ?? schema.items?.enum ?? []).filter((choice) => choice !== null);
  let kind: Field['kind'] = 'text';
  if (types.includes('boolean')) kind = 'yes';
  else if (types.includes('array')) kind = choices.length ? 'choices' : 'list';
  else if (choices.length) kind = 'choice';
  else if ((types.includes('integer') || types.includes('number')) && !types.includes('string'))
    kind = 'number';
  else if (types.includes('number')) kind = 'amount';
  else if (types.includes('date-time')) kind = 'date';
  else if (schema.format === 'date-time') kind = 'moment';
  const { minLength, maxLength, minimum, maximum, pattern, format } = schema;
  const rules = Object.fromEntries(
    Object.entries({ minLength, maxLength, minimum, maximum, pattern, format }).filter(
      ([, rule]) => rule !== undefined,
    ),
  ) as Rules;
  const label = texts.fields.labels[name] ?? schema.title ?? labelled(name);
  return {
    name,
    label,
    hint: withoutEcho(schema.description ?? '', label),
    kind,
    options: choices.map((choice) => ({
      value: String(choice),
      text: texts.fields.options[String(choice)] ?? String(choice),
    })),
    isRequired: isRequired || schema.required === true,
    rules,
  };
}

/** A field that no schema describes. */
export const plainField = (name: string, label: string, more: Partial<Field> = {}): Field => ({
  name,
  label,
  hint: '',
  kind: 'text',
  options: [],
  isRequired: false,
  rules: {},
  ...more,
});

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** What was filled in or ticked. */
export function given(values: Record<string, unknown>): Record<string, Json> {
  const isGiven = (value: unknown): boolean =>
    !isEmpty(value) && value !== false && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isGiven(value))) as Record<
    string,
    Json
  >;
}

/** What is not as it was before. */
export function changed(
  values: Record<string, unknown>,
  before: Record<string, unknown>,
): Record<string, Json> {
  const isOther = (value: unknown, old: unknown): boolean =>
    !(isEmpty(value) && isEmpty(old)) && JSON.stringify(value) !== JSON.stringify(old);
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => isOther(value, before[name])),
  ) as Record<string, Json>;
}

/** An explanation without a first sentence that says no more than the label. */
function withoutEcho(hint: string, label: string): string {
  const bare = (text: string): string =>
    text
      .toLowerCase()
      .replace(/[^a-z]/g, '')
      .replace(/address$/, '');
  const [first = '', ...others] = hint.split(/(?<=\.) /);
  return bare(first) === bare(label) ? others.join(' ') : hint;
}

interface Described {
  schema?: { properties?: Record<string, JsonSchema> };
}

const asked = new Map<string, Promise<Record<string, JsonSchema>>>();

/** The schema of the items of a route, as its OPTIONS document tells. */
export function schemaOf(path: string): Promise<Record<string, JsonSchema>> {
  let known = asked.get(path);
  if (!known) {
    known = send(path, { method: 'OPTIONS' })
      .then((answer) => answer.json() as Promise<Described>)
      .then((described) => described.schema?.properties ?? {});
    known.catch(() => asked.delete(path));
    asked.set(path, known);
  }
  return known;
}

/** All fields of a schema that can be written. */
export const fieldsOfSchema = (schema: Record<string, JsonSchema>): Field[] =>
  Object.entries(schema)
    .filter(([, part]) => part.readonly !== true)
    .map(([name, part]) => ({ ...fieldOf(name, part), hint: '' }));

/** The fields of these names, in this order, as far as the server has them. */
export async function fieldsOf(path: string, names: readonly string[]): Promise<Field[]> {
  const schema = await schemaOf(path);
  return names.flatMap((name) => (schema[name] ? [fieldOf(name, schema[name])] : []));
}

/** An amount as the shop's interface takes it: anything else it reads as nothing. */
const AMOUNT = /^\d+(\.\d+)?$/;
/** Less than the server asks of an e-mail address; what passes here it judges itself. */
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** What is wrong with a value, before the server is asked; nothing when it looks right. */
export function wrongWith(field: Field, value: unknown): string | undefined {
  const text = value === undefined || value === null ? '' : String(value);
  if (text === '') return field.isRequired ? t.required : undefined;
  const { minLength, maxLength, minimum, maximum, pattern, format } = field.rules;
  if (field.kind === 'amount' && !AMOUNT.test(text)) return t.amount;
  // Wrong characters are reported before a wrong length.
  if (pattern !== undefined && !matches(pattern, text)) return t.formats[format ?? ''] ?? t.pattern;
  if (format === 'email' && !ADDRESS.test(text)) return t.formats.email;
  const length = [...text].length;
  if (minLength !== undefined && maxLength === minLength && length !== minLength)
    return t.exactly(minLength);
  if (minLength !== undefined && length < minLength) return t.atLeast(minLength, length);
  if (maxLength !== undefined && length > maxLength) return t.atMost(maxLength, length);
  if (minimum !== undefined && Number(text) < minimum) return t.minimum(minimum);
  if (maximum !== undefined && Number(text) > maximum) return t.maximum(maximum);
  return undefined;
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    // A pattern of another dialect: the server will judge.
    return true;
  }
}

/** The rule in words, to stand beside the field. */
export function ruleText(field: Field): string {
  const { minLength, maxLength, minimum, maximum } = field.rules;
  if (minLength !== undefined && minLength === maxLength)
    return texts.fields.rules.exactly(minLength);
  if (maxLength !== undefined) return texts.fields.rules.length(minLength ?? 0, maxLength);
  if (minimum !== undefined && maximum !== undefined)
    return texts.fields.rules.range(minimum, maximum);
  return '';
}
