// Settings as the shop's interface describes them, as fields of a form and back.
import type { Json } from './api';
import { plainField, type Field } from './fields';
import { plainText } from './plain';

export interface Setting {
  id: string;
  label: string;
  description: string;
  type: string;
  default: Json;
  tip: string;
  value: Json;
  options?: Record<string, string | Record<string, string>>;
}

const KINDS: Record<string, Field['kind']> = {
  checkbox: 'yes',
  select: 'choice',
  radio: 'choice',
  multiselect: 'choices',
  textarea: 'long',
  number: 'text',
  password: 'secret',
};

/** Options may stand in groups, whose titles the options themselves repeat. */
const flat = (options: NonNullable<Setting['options']>): [string, string][] =>
  Object.entries(options).flatMap(([value, text]) =>
    typeof text === 'string' ? [[value, text] as [string, string]] : Object.entries(text),
  );

export const settingField = (setting: Setting): Field =>
  plainField(setting.id, setting.label || setting.description || setting.id, {
    hint: setting.tip || (setting.label ? setting.description : ''),
    kind: KINDS[setting.type] ?? 'text',
    options: flat(setting.options ?? {}).map(([value, text]) => ({
      value,
      text: plainText(String(text)),
    })),
  });

/** Settings with a tick are the texts yes and no. */
export const settingValue = (setting: Setting, value: unknown): Json =>
  setting.type === 'checkbox'
    ? value === true || value === 'yes'
      ? 'yes'
      : 'no'
    : (value as Json);

/** Those that are not as they were. */
export const changedSettings = (
  list: readonly Setting[],
  draft: Record<string, unknown>,
): { id: string; value: Json }[] =>
  list
    .map((setting) => ({
      id: setting.id,
      value: settingValue(setting, draft[setting.id]),
      setting,
    }))
    .filter(({ value, setting }) => JSON.stringify(value) !== JSON.stringify(setting.value))
    .map(({ id, value }) => ({ id, value }));
