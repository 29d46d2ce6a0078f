import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { z } from 'zod';
import { badRequest, HttpError } from '../../http/errors.ts';
import { xmlText } from '../../metadata/xml.ts';

const DTD = 'http://java.sun.com/dtd/properties.dtd';
const MAX_DEPTH = 5;
/** The document type without declarations of its own, behind the XML declaration and comments. */
const DOCTYPE =
  /^((?:<\?xml\s[^>]*\?>)?\s*(?:<!--(?:(?!-->)[\s\S])*-->\s*)*)<!DOCTYPE\s+properties(?:\s+SYSTEM\s+(?:"[^"]*"|'[^']*'))?\s*>/;
/** Whatever else begins with `<!` declares something. */
const DECLARATION = /<!(?!--|\[CDATA\[)/;

const PREDEFINED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));|&.{0,20}/gs;

const Text = z.strictObject({ '#text': z.string() });
const Entry = z.strictObject({ entry: z.array(Text), ':@': z.strictObject({ key: z.string() }) });
const Comment = z.strictObject({ comment: z.array(Text) });
const Blank = z.strictObject({ '#text': z.string().regex(/^\s*$/) });
/** A document as the parser gives it: each element as a member of its name, beside its attributes. */
const Properties = z.tuple([
  z.strictObject({
    properties: z.array(z.union([Entry, Comment, Blank])),
    ':@': z.strictObject({ version: z.literal('1.0') }).optional(),
  }),
]);

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  jPath: false,
  maxNestedTags: MAX_DEPTH,
  entityDecoder: {
    decode,
    addInputEntities: refuseDeclarations,
    setExternalEntities: () => undefined,
    reset: () => undefined,
    setXmlVersion: () => undefined,
  },
});

/**
 * Reads properties in the XML that Java writes. There are no entities but those of XML itself, and the document type is
 * neither fetched nor used.
 *
 * @returns keys and values in their order
 * @throws {HttpError} 400
 */
export function parsePropertiesXml(text: string): [string, string][] {
  const document = text.replace(DOCTYPE, '$1');
  if (DECLARATION.test(document)) refuseDeclarations();
  const validity = XMLValidator.validate(document);
  if (validity !== true) {
    throw badRequest(`The configuration is not well-formed XML: see line ${validity.err.line}.`);
  }
  const { success, data } = Properties.safeParse(treeOf(document));
  if (!success) {
    throw badRequest(
      'The configuration is no properties XML: <properties> may hold <entry key="..."> with text, and <comment>.',
    );
  }
  return data[0].properties.flatMap((each) =>
    'entry' in each ? [[each[':@'].key, each.entry.map((part) => part['#text']).join('')]] : [],
  );
}

/** Properties as XML in the form that Java reads. The keys must not hold control characters. */
export function propertiesXml(properties: ReadonlyMap<string, string>, comment: string): string {
  const entries = [...properties].map(
    ([key, value]) => `<entry key="${xmlText(key)}">${xmlText(value)}</entry>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE properties SYSTEM "${DTD}">
<properties>
<comment>${xmlText(comment)}</comment>
${entries.join('')}</properties>
`;
}

function treeOf(document: string): unknown {
  try {
    return parser.parse(document) as unknown;
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw badRequest('The configuration is not well-formed XML.');
  }
}

function decode(text: string): string {
  return text.replace(
    REFERENCE,
    (reference: string, name?: string, decimal?: string, hexadecimal?: string) => {
      if (name) return PREDEFINED[name] ?? '';
      const code = decimal ? Number(decimal) : Number.parseInt(hexadecimal ?? '', 16);
      if (code <= 0x10ffff) return String.fromCodePoint(code);
      throw badRequest(
        `The configuration holds ${JSON.stringify(reference)}; allowed are &amp; &lt; &gt; &quot; &apos; and numeric references.`,
      );
    },
  );
}

function refuseDeclarations(): never {
  throw badRequest(
    'The configuration declares something; allowed is <!DOCTYPE properties SYSTEM "..."> alone.',
  );
}
