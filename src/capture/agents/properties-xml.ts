import { xmlText } from '#metadata/xml.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import { InvalidXml, parseXml, type XmlElement } from '#platform/text/xml.ts';

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
