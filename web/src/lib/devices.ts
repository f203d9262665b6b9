// Which manufacturer makes which device, as the server's own table has it.
import { get } from './api';
import type { Field } from './fields';
import type { DeviceMaker } from './generated';
import { texts } from './texts';

let known: Promise<DeviceMaker[]> | undefined;

/** All manufacturers with their models, asked for once. */
export function deviceMakers(): Promise<DeviceMaker[]> {
  known ??= get<{ data: DeviceMaker[] }>('/v1/device-models').then(({ data }) => data);
  known.catch(() => (known = undefined));
  return known;
}

const modelsOf = (makers: DeviceMaker[], manufacturer: unknown): string[] =>
  makers.find(({ deviceManufacturer, otherNames }) =>
    [deviceManufacturer, ...otherNames].includes(String(manufacturer)),
  )?.deviceModels ?? [];

/** A field of a terminal: of the models only those that the chosen manufacturer makes. */
export function deviceField(field: Field, makers: DeviceMaker[], manufacturer: unknown): Field {
  const options = (names: string[]): Field['options'] =>
    names.map((name) => ({ value: name, text: name }));
  if (field.name === 'deviceManufacturer')
    return { ...field, options: options(makers.map((one) => one.deviceManufacturer)) };
  if (field.name !== 'deviceModel') return field;
  const models = modelsOf(makers, manufacturer);
  const hint = models.length ? '' : texts.fields.manufacturerFirst;
  return { ...field, kind: 'choice', options: options(models), hint };
}

/** The model if the manufacturer makes it, else the only one that it makes, or none. */
export function fittingModel(makers: DeviceMaker[], manufacturer: unknown, model: unknown): string {
  const models = modelsOf(makers, manufacturer);
  if (models.includes(String(model))) return String(model);
  return models.length === 1 ? (models[0] ?? '') : '';
}
