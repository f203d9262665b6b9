// The operations of both interfaces in one shape: those of onboarding from its OpenAPI document, those
// of the REST interface from the index of each namespace, which tells the shape of its items when help
// is asked for.
import { get, rest } from '../api';
import { withoutBlanks, type JsonSchema } from '../fields';
import { texts } from '../texts';

const t = texts.reference.answer;

export interface Parameter {
  name: string;
  place: 'path' | 'query' | 'header' | 'body';
  schema: JsonSchema;
  isRequired: boolean;
}

export interface Operation {
  /** Unique, and good in an address. */
  id: string;
  group: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  parameters: Parameter[];
  /** What the body must look like, when it is more than a list of parameters. */
  body?: Shape;
  answers: Answered[];
  isRest: boolean;
}

export interface Answered {
  status: string;
  text: string;
  schema?: Shape;
}

/** A schema with all that the two interfaces use of the language. */
export type Shape = JsonSchema & {
  anyOf?: Shape[];
  oneOf?: Shape[];
  allOf?: Shape[];
  $ref?: string;
  const?: unknown;
  examples?: unknown[];
  example?: unknown;
};

type Content = Record<string, { schema?: Shape }>;

interface Response {
  description?: string;
  content?: Content;
  $ref?: string;
}

interface OpenApiOperation {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: {
    name: string;
    in: 'path' | 'query' | 'header';
    description?: string;
    required?: boolean;
    schema?: JsonSchema;
  }[];
  requestBody?: { content?: Content };
  responses?: Record<string, Response>;
  tags?: string[];
}

interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components?: { schemas?: Record<string, Shape>; responses?: Record<string, Response> };
}

interface Index {
  routes: Record<
    string,
    {
      namespace: string;
      schema?: Shape;
      endpoints: { methods: string[]; args: Record<string, JsonSchema> | JsonSchema[] }[];
    }
  >;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export async function onboarding(): Promise<Operation[]> {
  const document = withoutBlanks(await get<OpenApi>('/v1/openapi.json'));
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => {
        const body = operation.requestBody?.content?.['application/json']?.schema;
        return {
          id: operation.operationId,
          group: operation.tags?.[0] ?? path.split('/')[2] ?? '',
          method: method.toUpperCase(),
          path,
          summary: operation.summary ?? '',
          description: operation.description ?? '',
          parameters: (operation.parameters ?? []).map((parameter) => ({
            name: parameter.name,
            place: parameter.in,
            schema: {
              ...parameter.schema,
              ...(parameter.description ? { description: parameter.description } : {}),
            },
            isRequired: parameter.required ?? false,
          })),
          ...(body ? { body: resolved(body, document) } : {}),
          answers: Object.entries(operation.responses ?? {}).map(([status, answer]) =>
            answered(status, answer, document),
          ),
          isRest: false,
        };
      }),
  );
}

/** How deep references are followed: deeper, a reader learns nothing more. */
const DEPTH_MAX = 8;

const target = <T>(reference: string, of: Record<string, T> | undefined): T | undefined =>
  of?.[reference.split('/').pop() ?? ''];

/** The schema with what it refers to in its place. */
function resolved(schema: Shape, document: OpenApi, depth = 0): Shape {
  if (depth > DEPTH_MAX) return {};
  const found = schema.$ref ? (target(schema.$ref, document.components?.schemas) ?? {}) : schema;
  const deeper = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(deeper);
    return typeof part === 'object' && part !== null
      ? resolved(part as Shape, document, depth + 1)
      : part;
  };
  return Object.fromEntries(
    Object.entries(found).map(([name, part]) => [name, deeper(part)]),
  ) as Shape;
}

function answered(status: string, answer: Response, document: OpenApi): Answered {
  const found = answer.$ref ? target(answer.$ref, document.components?.responses) : answer;
  const schema = found?.content?.['application/json']?.schema;
  return {
    status,
    text: found?.description ?? '',
    ...(schema ? { schema: resolved(schema, document) } : {}),
  };
}

/** What every refusal of the REST interface looks like. */
const REFUSAL: Shape = {
  type: 'object',
  properties: {
    code: {
      type: 'string',
      description: t.refusal.code,
      examples: ['rest_invalid_param'],
    } as Shape,
    message: {
      type: 'string',
      description: t.refusal.message,
      examples: ['Invalid parameter(s): per_page'],
    } as Shape,
    data: {
      type: 'object',
      properties: {
        status: { type: 'integer', examples: [400] } as Shape,
        params: { type: 'object', description: t.refusal.params },
      },
    },
  },
};

/** What an operation of the REST interface answers, of what its route says of its items. */
function restAnswers(method: string, isList: boolean, item: Shape | undefined): Answered[] {
  const good: Answered = { status: '2XX', text: t.good };
  if (method === 'DELETE') good.text = t.deleted;
  else if (item && method === 'GET' && isList)
    Object.assign(good, { text: t.listed, schema: { type: 'array', items: item } });
  else if (item) good.schema = item;
  return [good, { status: '4XX', text: t.refused, schema: REFUSAL }];
}

export async function namespaces(): Promise<string[]> {
  const index = await get<{ namespaces: string[] }>(rest(''), { _fields: 'namespaces' });
  return index.namespaces;
}

export async function ofNamespace(namespace: string): Promise<Operation[]> {
  const index = await get<Index>(rest(namespace), { context: 'help' });
  return Object.entries(index.routes).flatMap(([route, { endpoints, schema: item }]) => {
    const path = route.replace(/\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)/g, '{$1}');
    const variables = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    return endpoints.flatMap((endpoint) =>
      endpoint.methods.map((method) => ({
        id: `${method}${path}`.replace(/[^a-z0-9]+/gi, '-').toLowerCase(),
        group: path.slice(namespace.length + 1).split('/')[1] ?? namespace,
        method,
        path: `/wp-json${path}`,
        summary: '',
        description: '',
        parameters: Object.entries(Array.isArray(endpoint.args) ? {} : endpoint.args).map(
          ([name, schema]) => ({
            name,
            place: variables.includes(name)
              ? ('path' as const)
              : method === 'GET' || method === 'DELETE'
                ? ('query' as const)
                : ('body' as const),
            schema,
            isRequired: schema.required === true,
          }),
        ),
        answers: restAnswers(
          method,
          !Array.isArray(endpoint.args) && endpoint.args.per_page !== undefined,
          item,
        ),
        isRest: true,
      })),
    );
  });
}

/** What stands for a text of a format. */
const SAMPLES: Record<string, string> = {
  'date-time': '2026-11-15T12:00:00',
  date: '2026-11-15',
  email: 'ada@example.org',
  uri: 'https://example.org/',
  uuid: '0190b2a4-1c1f-7c3e-9d61-3a5b7c9d1e2f',
  ip: '192.0.2.1',
};

/** A value that shows the shape, with the first thing that each rule allows; `isWhole` with what may be left out, too. */
export function example(schema: Shape, isWhole = false, depth = 0): unknown {
  if (depth > DEPTH_MAX) return null;
  const inner = (part: Shape): unknown => example(part, isWhole, depth + 1);
  if (schema.examples?.length) return schema.examples[0];
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf?.length)
    return inner(isWhole ? schema.anyOf[0]! : schema.anyOf[schema.anyOf.length - 1]!);
  if (schema.oneOf?.length) return inner(schema.oneOf[0]!);
  if (schema.enum?.length) return schema.enum[0];
  if (schema.properties) {
    const isNeeded = (name: string): boolean =>
      isWhole || !Array.isArray(schema.required) || schema.required.includes(name);
    return Object.fromEntries(
      Object.entries(schema.properties)
        .filter(([name]) => isNeeded(name))
        .map(([name, part]) => [name, inner(part)]),
    );
  }
  if (schema.items) return [inner(schema.items)];
  const types = ([] as string[]).concat(schema.type ?? 'string');
  if (types.includes('string')) return isWhole ? (SAMPLES[schema.format ?? ''] ?? '…') : '';
  if (types.includes('integer') || types.includes('number')) return schema.minimum ?? 1;
  if (types.includes('boolean')) return true;
  if (types.includes('array')) return [];
  return types.includes('object') ? {} : '';
}
