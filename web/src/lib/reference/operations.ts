// The operations of both interfaces in one shape: those of onboarding from its OpenAPI document, those
// of the REST interface from the index of each namespace.
import { get, rest } from '../api';
import { withoutBlanks, type JsonSchema } from '../fields';

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
  body?: JsonSchema & { anyOf?: JsonSchema[] };
  answers: { status: string; text: string }[];
  isRest: boolean;
}

interface OpenApiOperation {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: { name: string; in: 'path' | 'query' | 'header'; description?: string; required?: boolean; schema?: JsonSchema }[];
  requestBody?: { content?: Record<string, { schema?: JsonSchema }> };
  responses?: Record<string, { description?: string }>;
  tags?: string[];
}

interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components?: { schemas?: Record<string, JsonSchema> };
}

interface Index {
  routes: Record<string, { namespace: string; endpoints: { methods: string[]; args: Record<string, JsonSchema> | JsonSchema[] }[] }>;
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
            schema: { ...parameter.schema, ...(parameter.description ? { description: parameter.description } : {}) },
            isRequired: parameter.required ?? false,
          })),
          ...(body ? { body: resolve(body, document) } : {}),
          answers: Object.entries(operation.responses ?? {}).map(([status, answer]) => ({ status, text: answer.description ?? '' })),
          isRest: false,
        };
      }),
  );
}

/** References to named schemas are followed one level, which is as deep as ours go. */
function resolve(schema: JsonSchema & { $ref?: string }, document: OpenApi): JsonSchema {
  const name = schema.$ref?.split('/').pop();
  return (name && document.components?.schemas?.[name]) || schema;
}

export async function namespaces(): Promise<string[]> {
  const index = await get<{ namespaces: string[] }>(rest(''), { _fields: 'namespaces' });
  return index.namespaces;
}

export async function ofNamespace(namespace: string): Promise<Operation[]> {
  const index = await get<Index>(rest(namespace));
  return Object.entries(index.routes).flatMap(([route, { endpoints }]) => {
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
        parameters: Object.entries(Array.isArray(endpoint.args) ? {} : endpoint.args).map(([name, schema]) => ({
          name,
          place: variables.includes(name) ? ('path' as const) : method === 'GET' || method === 'DELETE' ? ('query' as const) : ('body' as const),
          schema,
          isRequired: schema.required === true,
        })),
        answers: [],
        isRest: true,
      })),
    );
  });
}

/** A body that shows the shape, with the first thing that each rule allows. */
export function example(schema: JsonSchema & { anyOf?: JsonSchema[]; oneOf?: JsonSchema[]; const?: unknown; examples?: unknown[] }): unknown {
  if (schema.examples?.length) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf?.length) return example(schema.anyOf[schema.anyOf.length - 1]!);
  if (schema.oneOf?.length) return example(schema.oneOf[0]!);
  if (schema.enum?.length) return schema.enum[0];
  if (schema.properties) {
    const needed = Array.isArray(schema.required) ? schema.required : Object.keys(schema.properties);
    return Object.fromEntries(
      Object.entries(schema.properties).filter(([name]) => needed.includes(name)).map(([name, part]) => [name, example(part)]),
    );
  }
  if (schema.items) return [example(schema.items)];
  const types = ([] as string[]).concat(schema.type ?? 'string');
  if (types.includes('string')) return '';
  if (types.includes('integer') || types.includes('number')) return schema.minimum ?? 1;
  if (types.includes('boolean')) return true;
  return '';
}
