import { z } from 'zod';
import { parseJson } from '#metadata/parse-metadata.ts';
import { isXmlText, xmlText } from '#metadata/xml-text.ts';
import { parseInput } from '#platform/http/endpoint/endpoint-schemas.ts';
import { badRequest, refusal } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { isTimeZone } from '#platform/text/time-zone.ts';
import { InvalidXml, parseXml, type XmlElement } from '#platform/text/xml.ts';
import { INPUTS, inputsIn, isName, MAX_NAME } from './agent-names.ts';

const DTD = 'http://java.sun.com/dtd/properties.dtd';
/** A document type without declarations, after the XML declaration and comments. */
const DOCTYPE =
  /^((?:<\?xml\s[^>]*\?>)?\s*(?:<!--(?:(?!-->)[\s\S])*-->\s*)*)<!DOCTYPE\s+properties(?:\s+SYSTEM\s+(?:"[^"]*"|'[^']*'))?\s*>/;
/** Other declarations. */
const DECLARATION = /<!(?!--|\[CDATA\[)/;

/** Parses Java properties XML without declarations or external documents. @throws {HttpError} 400 */
export function parsePropertiesXml(text: string): [string, string][] {
  const document = text.replace(DOCTYPE, '$1');
  if (DECLARATION.test(document)) {
    throw badRequest(
      'The configuration contains an XML declaration; only <!DOCTYPE properties SYSTEM "..."> is allowed.',
    );
  }
  const root = rootOf(document);
  if (!isProperties(root)) {
    throw badRequest(
      'The configuration must be properties XML: <properties> with <entry key="..."> with text, and <comment>.',
    );
  }
  return root.children.flatMap(({ attributes, text }) => {
    const key = attributes.get('key');
    return key === undefined ? [] : [[key, text]];
  });
}

function rootOf(document: string): XmlElement {
  try {
    return parseXml(document);
  } catch (error) {
    if (!(error instanceof InvalidXml)) throw error;
    throw badRequest(`The configuration ${error.message.replace(/^it /, '')}.`);
  }
}

function isProperties({ name, attributes, children, text }: XmlElement): boolean {
  const others = [...attributes].filter(([attribute, value]) => attribute !== 'version' || value !== '1.0');
  return name === 'properties' && others.length === 0 && text.trim() === '' && children.every(isPart);
}

function isPart({ name, attributes, children }: XmlElement): boolean {
  const expected = { entry: 'key', comment: '' }[name];
  return expected !== undefined && children.length === 0 && [...attributes.keys()].join() === expected;
}

/** Formats Java properties XML. The keys must not contain control characters. */
export function propertiesXml(properties: ReadonlyMap<string, string>, comment: string): string {
  const entries = [...properties].map(([key, value]) => `<entry key="${xmlText(key)}">${xmlText(value)}</entry>\n`);
  return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE properties SYSTEM "${DTD}">
<properties>
<comment>${xmlText(comment)}</comment>
${entries.join('')}</properties>
`;
}

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
const Text = z
  .string()
  .max(MAX_VALUE, `must have at most ${MAX_VALUE} characters`)
  .refine(isXmlText, 'contains a character that XML does not allow');
const Value = z
  .union([z.string(), z.number(), z.boolean()], 'must be a string, a number or a boolean')
  .transform(String)
  .pipe(Text);

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
  if (text.startsWith('{')) return Object.entries(parseJson(text, () => INVALID_CONFIGURATION()) as object);
  throw INVALID_CONFIGURATION();
}

function checkedValue(key: string, value: unknown): string {
  const { data, error } = Value.safeParse(value);
  if (error) throw badRequest(`The configuration property ${quoted(key)} ${error.issues[0]?.message}.`);
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
