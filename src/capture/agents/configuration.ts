import { z } from 'zod';
import { isXmlText } from '#metadata/xml.ts';
import { parseInput } from '#platform/http/endpoint/check.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { isTimeZone } from '#platform/text/time-zone.ts';
import { INPUTS, inputsIn, isName, MAX_NAME, quoted } from './names.ts';
import { parsePropertiesXml } from './properties-xml.ts';

const MAX_BYTES = 64 * 1024;
const MAX_PROPERTIES = 1000;
const MAX_KEY = 255;
const MAX_VALUE = 10_000;
const TIME_ZONE = 'capture.device.timezone';
const DEFAULT_ZONE = 'UTC';

export const INVALID_CONFIGURATION = refusal(400, 'The configuration must be a JSON object or Java properties XML.');
export const CONFIGURATION_TOO_LONG = refusal(413, `The configuration must have at most ${MAX_BYTES} bytes.`);

export interface AgentConfiguration {
  /** Sorted by key. */
  properties: ReadonlyMap<string, string>;
  inputs: string[];
  timeZone: string;
  /** The reported zone if it is unknown; some agents report POSIX rules. */
  unknownZone: string | undefined;
}

const Key = z.string().refine((key) => key !== '' && key.length <= MAX_KEY && isXmlText(key) && !/\p{Cc}/u.test(key), {
  error: ({ input }) =>
    `The configuration property name ${quoted(input)} must have 1 to ${MAX_KEY} characters and no control characters.`,
});
const Value = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** Parses a configuration: a JSON object or Java properties XML. @throws {HttpError} 400 or 413 */
export function parseConfiguration(text: string): AgentConfiguration {
  if (Buffer.byteLength(text) > MAX_BYTES) throw CONFIGURATION_TOO_LONG();
  const properties = new Map<string, string>();
  for (const [key, value] of entriesOf(text.trim())) properties.set(parseInput(Key, key), checkedValue(key, value));
  if (properties.size > MAX_PROPERTIES) {
    throw badRequest(`The configuration has ${properties.size} properties; at most ${MAX_PROPERTIES} are allowed.`);
  }
  const sorted = new Map([...properties].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { properties: sorted, inputs: inputsOf(sorted), ...zoneOf(sorted) };
}

function entriesOf(text: string): [string, unknown][] {
  if (text.startsWith('<')) return parsePropertiesXml(text);
  if (text.startsWith('{')) return Object.entries(jsonOf(text));
  throw INVALID_CONFIGURATION();
}

function jsonOf(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    throw INVALID_CONFIGURATION();
  }
}

function checkedValue(key: string, value: unknown): string {
  const { success, data } = Value.safeParse(value);
  if (!success) {
    throw badRequest(`The configuration property ${quoted(key)} must be a string, a number or a boolean.`);
  }
  if (data.length > MAX_VALUE) {
    throw badRequest(`The configuration property ${quoted(key)} must have at most ${MAX_VALUE} characters.`);
  }
  if (!isXmlText(data)) {
    throw badRequest(`The configuration property ${quoted(key)} contains a character that XML does not allow.`);
  }
  return data;
}

function inputsOf(properties: ReadonlyMap<string, string>): string[] {
  const inputs = inputsIn(properties.get(INPUTS) ?? '');
  const wrong = inputs.find((name) => !isName(name));
  if (wrong === undefined) return inputs;
  throw badRequest(
    `The configuration property ${INPUTS} contains the name ${quoted(wrong)}; names must have 1 to ${MAX_NAME} characters and no control characters.`,
  );
}

function zoneOf(properties: ReadonlyMap<string, string>): Pick<AgentConfiguration, 'timeZone' | 'unknownZone'> {
  const zone = properties.get(TIME_ZONE)?.trim();
  if (zone !== undefined && isTimeZone(zone)) return { timeZone: zone, unknownZone: undefined };
  return { timeZone: DEFAULT_ZONE, unknownZone: zone };
}
