import { xmlText } from '#metadata/xml.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import { parseXml, type XmlElement, XmlFault } from '#platform/text/xml.ts';

const DTD = 'http://java.sun.com/dtd/properties.dtd';
/** The document type without declarations of its own, behind the XML declaration and comments. */
const DOCTYPE =
  /^((?:<\?xml\s[^>]*\?>)?\s*(?:<!--(?:(?!-->)[\s\S])*-->\s*)*)<!DOCTYPE\s+properties(?:\s+SYSTEM\s+(?:"[^"]*"|'[^']*'))?\s*>/;
/** Whatever else begins with `<!` declares something. */
const DECLARATION = /<!(?!--|\[CDATA\[)/;

/**
 * Reads properties in the XML that Java writes. There are no entities but those of XML itself, and the document type is
 * neither fetched nor used.
 *
 * @returns keys and values in their order
 * @throws {HttpError} 400
 */
export function parsePropertiesXml(text: string): [string, string][] {
  const document = text.replace(DOCTYPE, '$1');
  if (DECLARATION.test(document)) {
    throw badRequest('The configuration declares something; allowed is <!DOCTYPE properties SYSTEM "..."> alone.');
  }
  const root = rootOf(document);
  if (!isProperties(root)) {
    throw badRequest(
      'The configuration is no properties XML: <properties> may hold <entry key="..."> with text, and <comment>.',
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
    if (!(error instanceof XmlFault)) throw error;
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

/** Properties as XML in the form that Java reads. The keys must not hold control characters. */
export function propertiesXml(properties: ReadonlyMap<string, string>, comment: string): string {
  const entries = [...properties].map(([key, value]) => `<entry key="${xmlText(key)}">${xmlText(value)}</entry>\n`);
  return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE properties SYSTEM "${DTD}">
<properties>
<comment>${xmlText(comment)}</comment>
${entries.join('')}</properties>
`;
}
