// The guided form's knowledge of a full onboarding: the schema that the server publishes and checks
// with, taken apart into the form's steps. No rule stands here.
import { get } from './api';
import { fieldOf, withoutBlanks, type Field, type JsonSchema } from './fields';

interface Schema extends JsonSchema {
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
  $ref?: string;
}

interface OpenApi {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>
  >;
}

export interface Step {
  name: string;
  fields: { path: string; field: Field }[];
}

export interface Plan {
  steps: Step[];
  /** Fields of a processor's account, by processor. */
  processors: Record<string, { path: string; field: Field }[]>;
}

/** What is there already and gets a store or a TPN more. */
export interface Given {
  merchantId?: string;
  storeId?: string;
}

/** The shape that makes all that is not given. */
function fitting(schema: Schema, given: Given): Schema {
  const shapes = schema.anyOf ?? schema.oneOf ?? [schema];
  const isNamed = (shape: Schema, part: string, id: string): boolean =>
    shape.properties?.[part]?.properties?.[id] !== undefined;
  const isWanted = (shape: Schema): boolean =>
    isNamed(shape, 'merchantData', 'merchantId') === Boolean(given.merchantId) &&
    isNamed(shape, 'storeData', 'storeId') === Boolean(given.storeId);
  return shapes.find(isWanted) ?? schema;
}

let known: Promise<OpenApi> | undefined;

/** The server's description of itself, asked for once. */
function described(): Promise<OpenApi> {
  known ??= get<OpenApi>('/v1/openapi.json').then((document) => withoutBlanks(document));
  known.catch(() => (known = undefined));
  return known;
}

/** What the server says of the body of an operation; nothing if it has no such operation. */
async function bodySchema(path: string, method = 'post'): Promise<Schema | undefined> {
  const document = await described();
  return document.paths[path]?.[method]?.requestBody?.content['application/json']?.schema;
}

/** The members of the body of an operation as fields of a form. */
export async function bodyFields(path: string): Promise<Field[]> {
  const schema = await bodySchema(path);
  return Object.entries(schema?.properties ?? {}).map(([name, rule]) =>
    fieldOf(name, rule, isNeeded(schema ?? {}, name)),
  );
}

/** The paths of all fields of an onboarding in any of its shapes, with dots; items of a list are called 0. */
export async function knownPaths(): Promise<Set<string>> {
  const paths = new Set<string>();
  const walk = (schema: Schema, path: string): void => {
    const parts = Object.entries(schema.properties ?? {});
    for (const shape of schema.anyOf ?? schema.oneOf ?? []) walk(shape, path);
    for (const [name, part] of parts) walk(part, path ? `${path}.${name}` : name);
    if (schema.items) walk(schema.items, `${path}.0`);
    else if (parts.length === 0) paths.add(path);
  };
  walk((await bodySchema('/v1/onboardmerchant')) ?? {}, '');
  return paths;
}

/** What can be changed of a record, and which of it can be emptied. */
export interface Change {
  fields: Field[];
  clearable: string[];
}

export async function changeOf(path: string): Promise<Change> {
  const { clear, ...members } = (await bodySchema(path, 'patch'))?.properties ?? {};
  const fields = Object.entries(members).filter(
    ([name, rule]) =>
      name !== 'expectedVersion' && !([] as string[]).concat(rule.type ?? []).includes('object'),
  );
  return {
    fields: fields.map(([name, rule]) => fieldOf(name, rule)),
    clearable: (clear?.items?.enum ?? []).map(String),
  };
}

export async function plan(given: Given): Promise<Plan> {
  const schema = await bodySchema('/v1/onboardmerchant');
  if (!schema) throw new Error('the server does not describe the onboarding');
  const known = [given.merchantId && 'merchantData', given.storeId && 'storeData'];
  const made = planOf(fitting(schema, given));
  return { ...made, steps: made.steps.filter(({ name }) => !known.includes(name)) };
}

/** The parts of a form that a merchant fills in. */
export async function formSteps(): Promise<Step[]> {
  const schema = await bodySchema('/v1/onboarding-links/submit');
  if (!schema) throw new Error('the server does not describe the form');
  return planOf(schema).steps;
}

/** What a store usually has from its merchant. */
export const SHARED = [
  'dba',
  'firstName',
  'lastName',
  'email',
  'addressLine1',
  'addressLine2',
  'zipCode',
  'phoneNumber',
  'ISDcode',
] as const;

export const isShared = (path: string): boolean =>
  SHARED.some((name) => path === `storeData.${name}`);

/** The values with those of the merchant for its store. */
export const withShared = (values: Record<string, unknown>): Record<string, unknown> => ({
  ...values,
  ...Object.fromEntries(
    SHARED.map((name) => [`storeData.${name}`, values[`merchantData.${name}`]]),
  ),
});

function planOf(shape: Schema): Plan {
  const steps: Step[] = [];
  const processors: Plan['processors'] = {};
  const parts = Object.entries(shape.properties ?? {}).filter(([, part]) => part.properties);
  for (const [name, part] of parts) {
    const fields: Step['fields'] = [];
    for (const [member, rule] of Object.entries(part.properties ?? {})) {
      if (member === 'tpnProcessor') collect(rule, `${name}.${member}`, processors);
      else
        fields.push({
          path: `${name}.${member}`,
          field: fieldOf(member, rule, isNeeded(part, member)),
        });
    }
    steps.push({ name, fields });
  }
  return { steps, processors };
}

const isNeeded = (schema: Schema, member: string): boolean =>
  Array.isArray(schema.required) && schema.required.includes(member);

function collect(schema: Schema, path: string, processors: Plan['processors']): void {
  for (const variant of schema.anyOf ?? schema.oneOf ?? [schema]) {
    const name = variant.properties?.processorName;
    const names = (name?.enum ?? [(name as { const?: string } | undefined)?.const ?? ''])
      .map(String)
      .filter(Boolean);
    const profile = variant.properties?.profile?.items;
    for (const shape of profile?.anyOf ?? profile?.oneOf ?? (profile ? [profile] : [])) {
      const fields = Object.entries(shape.properties ?? {}).map(([member, rule]) => ({
        path: `${path}.profile[0].${member}`,
        field: fieldOf(member, rule, isNeeded(shape, member)),
      }));
      for (const one of names) processors[one] ??= fields;
    }
  }
}

/** Builds the body of an onboarding from values by path, leaving out what is empty. */
export function bodyOf(
  values: Record<string, unknown>,
  processor: string,
): Record<string, unknown> {
  const body = nested(values);
  const tpn = (body.tpnData ??= {}) as Record<string, unknown>;
  tpn.tpnProcessor = {
    processorName: processor,
    ...((tpn.tpnProcessor as object | undefined) ?? {}),
  };
  return body;
}

/** Values by path as the objects that they are the members of. */
export function nested(values: Record<string, unknown>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    if (value === undefined || value === null || value === '') continue;
    const steps = path.replace(/\[(\d+)\]/g, '.$1').split('.');
    let place: Record<string, unknown> = body;
    steps.forEach((step, index) => {
      if (index === steps.length - 1) place[step] = value;
      else {
        const isList = /^\d+$/.test(steps[index + 1] ?? '');
        place[step] ??= isList ? [] : {};
        place = place[step] as Record<string, unknown>;
      }
    });
  }
  return body;
}

/** The members of an object as values by path. */
export const byPath = (part: string, members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [`${part}.${name}`, value]));
