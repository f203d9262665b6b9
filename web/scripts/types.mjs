// Writes src/lib/generated.ts: the types of what the portal reads, from the two OpenAPI documents that
// the server prints. `cargo xtask generate portal` runs it; with `--check` nothing is written, and a
// stale file is a failure.
import { readFile, writeFile } from 'node:fs/promises';

const [onboardingFile, restFile, flag] = process.argv.slice(2);
const TARGET = new URL('../src/lib/generated.ts', import.meta.url);

/** Answers of the onboarding interface, by the path of a GET; `data` is the list in an answer. */
const ONBOARDING = {
  Merchant: ['/v1/merchants/{merchantId}'],
  Store: ['/v1/stores/{storeId}'],
  Tpn: ['/v1/tpns/{tpn}'],
  OnboardingLink: ['/v1/onboarding-links/{linkId}'],
  IsoAccount: ['/v1/isos/{isoId}'],
  IsoUsage: ['/v1/isos/{isoId}/usage'],
  Connection: ['/v1/connections/{connectionId}'],
  Portfolio: ['/v1/portfolio'],
  PortfolioSum: ['/v1/portfolio', 'data'],
  PortfolioRates: ['/v1/portfolio/rates'],
  StoreAlert: ['/v1/portfolio/alerts', 'data'],
  Requirements: ['/v1/merchants/{merchantId}/requirements'],
  Duplicate: ['/v1/merchants/{merchantId}/duplicates', 'data'],
  ApiKey: ['/v1/keys', 'data'],
  Scopes: ['/v1/scopes'],
  Member: ['/v1/people', 'data'],
  Invitation: ['/v1/invitations', 'data'],
  Template: ['/v1/templates/{name}'],
  TemplateTpn: ['/v1/templates/{name}/tpns', 'data'],
  TemplateStore: ['/v1/templates/{name}/stores', 'data'],
  Rollout: ['/v1/rollouts/{rolloutId}'],
  RolloutTpn: ['/v1/rollouts/{rolloutId}/tpns', 'data'],
  DeviceMaker: ['/v1/device-models', 'data'],
  Webhook: ['/v1/webhooks/{webhookId}'],
  Delivery: ['/v1/webhooks/{webhookId}/deliveries', 'data'],
  DeliveryWithAttempts: ['/v1/webhooks/{webhookId}/deliveries/{deliveryId}'],
  CaughtPage: ['/v1/sandbox/webhooks'],
  OutboxEvent: ['/v1/events', 'data'],
  AuditEntry: ['/v1/audit', 'data'],
  Activity: ['/v1/merchants/{merchantId}/audit', 'data'],
  AuditVerdict: ['/v1/audit/verify'],
};

/** Values from which a member of a body is chosen, by the path of a POST and the member's name. */
const CHOICES = {
  EVENT_PATTERNS: ['/v1/webhooks', 'events'],
};

/** Schemas of the REST interface, by their names. */
const REST = {
  Me: 'BoardwalkV1Me',
  Session: 'BoardwalkV1Session',
  User: 'WpV2User',
  ConsumerKey: 'BoardwalkV1ConsumerKey',
  ApplicationPassword: 'WpV2ApplicationPassword',
  Order: 'WcV3ShopOrder',
  OrderNote: 'WcV3OrderNote',
  Product: 'WcV3Product',
  Variation: 'WcV3ProductVariation',
  Coupon: 'WcV3ShopCoupon',
  Setting: 'WcV3Setting',
  Note: 'WcAnalyticsNote',
  PersonalData: 'BoardwalkV1PersonalData',
  Erasure: 'BoardwalkV1Erasure',
};

const NAMES = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  file: 'string',
  mixed: 'unknown',
  date: 'string',
};

/** A schema as the text of a type; the outer one has a line for each member. */
function typeOf(schema, isOuter) {
  if (!schema || schema === true) return 'unknown';
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants)
    return [...new Set(variants.map((variant) => typeOf(variant, isOuter)))].join(' | ');
  if (schema.enum?.every((value) => typeof value === 'string'))
    return schema.enum.length
      ? schema.enum.map((value) => JSON.stringify(value)).join(' | ')
      : 'string';
  const types = [].concat(schema.type ?? (schema.properties ? 'object' : []));
  if (types.length === 0) return 'unknown';
  return types.map((type) => single(type, schema, isOuter)).join(' | ');
}

function single(type, schema, isOuter) {
  if (type === 'array') {
    const item = typeOf(schema.items, false);
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
  }
  if (type !== 'object') return NAMES[type] ?? 'unknown';
  if (!schema.properties)
    return `Record<string, ${schema.additionalProperties ? typeOf(schema.additionalProperties, false) : 'unknown'}>`;
  const members = Object.entries(schema.properties).map(([name, member]) => {
    const isThere = !Array.isArray(schema.required) || schema.required.includes(name);
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${key}${isThere ? '' : '?'}: ${typeOf(member, false)}`;
  });
  return isOuter
    ? `{\n${members.map((member) => `  ${member};\n`).join('')}}`
    : `{ ${members.join('; ')} }`;
}

/** The document with every schema in the place of the references to it. */
function resolved(document) {
  const part = (value) => {
    if (Array.isArray(value)) return value.map(part);
    if (typeof value !== 'object' || value === null) return value;
    const name = value.$ref?.match(/^#\/components\/schemas\/(\w+)$/)?.[1];
    if (name) return part(document.components.schemas[name]);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, part(inner)]));
  };
  return part(document);
}

function answer(document, name, [path, member]) {
  const schema =
    document.paths[path]?.get?.responses?.['200']?.content?.['application/json']?.schema;
  const found = member ? schema?.properties?.[member]?.items : schema;
  if (!found) throw new Error(`the document has no answer for ${name} at ${path}`);
  return found;
}

function choices(document, name, [path, member]) {
  const body = document.paths[path]?.post?.requestBody?.content?.['application/json']?.schema;
  const schema = body?.properties?.[member];
  const list = schema?.anyOf?.find((variant) => variant.items) ?? schema;
  const found = list?.items?.enum;
  if (!found) throw new Error(`the document has no choices for ${name} at ${path}`);
  return found;
}

function named(document, name, schema) {
  const found = document.components.schemas[schema];
  if (!found) throw new Error(`the document has no schema ${schema} for ${name}`);
  return found;
}

const onboarding = resolved(JSON.parse(await readFile(onboardingFile, 'utf8')));
const rest = resolved(JSON.parse(await readFile(restFile, 'utf8')));
const all = [
  ...Object.entries(ONBOARDING).map(([name, place]) => [name, answer(onboarding, name, place)]),
  ...Object.entries(REST).map(([name, schema]) => [name, named(rest, name, schema)]),
];
const text =
  '// @generated by scripts/types.mjs from the OpenAPI documents of the server; `cargo xtask generate portal`\n// writes it again.\n' +
  all.map(([name, schema]) => `\nexport type ${name} = ${typeOf(schema, true)};\n`).join('') +
  Object.entries(CHOICES)
    .map(([name, place]) => {
      const lines = choices(onboarding, name, place).map((choice) => `  '${choice}',\n`);
      return `\nexport const ${name}: readonly string[] = [\n${lines.join('')}];\n`;
    })
    .join('');

if (flag === '--check') {
  if ((await readFile(TARGET, 'utf8')) !== text) {
    console.error('src/lib/generated.ts is stale: run `cargo xtask generate portal` and commit it');
    process.exit(1);
  }
} else await writeFile(TARGET, text);
