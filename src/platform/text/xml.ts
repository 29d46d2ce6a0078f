import { XMLParser, XMLValidator } from 'fast-xml-parser';

const MAX_CHARACTERS = 2 ** 20;
const MAX_DEPTH = 50;
const MAX_ELEMENTS = 20_000;
const MAX_ATTRIBUTES = 20_000;
/** The beginning of an attribute value, or a similar text. */
const VALUE = /=\s*["']/g;
/** Everything else after `<!` declares a document type or an entity. */
const DECLARATION = /<!(?!--|\[CDATA\[)/;
const ATTRIBUTES = ':@';
const TEXT = '#text';
const CDATA = '#cdata';
const PREDEFINED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const SURROGATES = /\p{Cs}/u;
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));|&.{0,20}/gs;

/** An element of an XML document. Names have no prefix; namespaces are ignored. */
export interface XmlElement {
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: readonly XmlElement[];
  /** All text directly in it, unchanged. */
  text: string;
}

/** The text is not acceptable XML; the message completes "because". */
export class InvalidXml extends Error {
  override name = 'InvalidXml';
}

type Node = Record<string, unknown>;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: CDATA,
  jPath: false,
  maxNestedTags: MAX_DEPTH,
  entityDecoder: {
    decode,
    addInputEntities: () => undefined,
    setExternalEntities: () => undefined,
    reset: () => undefined,
    setXmlVersion: () => undefined,
  },
});

/** Parses an untrusted XML document of up to 1 MiB, without document type and custom entities. @throws {InvalidXml} */
export function parseXml(text: string): XmlElement {
  const document = text.replace(/^\uFEFF/, '').trim();
  if (document.length > MAX_CHARACTERS) throw new InvalidXml(`it is longer than ${MAX_CHARACTERS} characters`);
  if (!document.startsWith('<')) throw new InvalidXml('it does not begin with an element');
  if (DECLARATION.test(document)) throw new InvalidXml('it declares a document type or entities');
  if ((document.match(VALUE) ?? []).length > MAX_ATTRIBUTES) {
    throw new InvalidXml(`it has more than ${MAX_ATTRIBUTES} attributes`);
  }
  const validity = XMLValidator.validate(document);
  if (validity !== true) throw new InvalidXml(`it is not well-formed XML: see line ${validity.err.line}`);
  let left = MAX_ELEMENTS;
  const elementOf = (node: Node): XmlElement | undefined => {
    const tag = Object.keys(node).find((key) => key !== ATTRIBUTES && key !== TEXT && key !== CDATA);
    if (tag === undefined) return undefined;
    left -= 1;
    if (left < 0) throw new InvalidXml(`it has more than ${MAX_ELEMENTS} elements`);
    const inner = node[tag] as Node[];
    return {
      name: localName(tag),
      attributes: attributesOf(node[ATTRIBUTES] as Record<string, string> | undefined),
      children: inner.map(elementOf).filter((child) => child !== undefined),
      text: inner.map(ownText).join(''),
    };
  };
  const roots = treeOf(document)
    .map(elementOf)
    .filter((root) => root !== undefined);
  const [root, ...more] = roots;
  if (!root || more.length > 0) throw new InvalidXml('it is not a single element');
  return root;
}

export function childOf(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((child) => child.name === name);
}

function treeOf(document: string): Node[] {
  try {
    return parser.parse(document) as Node[];
  } catch (error) {
    throw error instanceof InvalidXml ? error : new InvalidXml('it is not well-formed XML');
  }
}

function ownText(node: Node): string {
  if (TEXT in node) return String(node[TEXT]);
  const cdata = node[CDATA];
  return Array.isArray(cdata) ? cdata.map((part: Node) => String(part[TEXT] ?? '')).join('') : '';
}

function attributesOf(attributes: Record<string, string> = {}): Map<string, string> {
  return new Map(Object.entries(attributes).map(([name, value]) => [localName(name), value]));
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function decode(text: string): string {
  return text.replace(REFERENCE, (reference: string, name?: string, decimal?: string, hexadecimal?: string) => {
    if (name) return PREDEFINED[name] ?? '';
    const code = decimal ? Number(decimal) : Number.parseInt(hexadecimal ?? '', 16);
    if (code <= 0x10ffff && !SURROGATES.test(String.fromCodePoint(code))) return String.fromCodePoint(code);
    const allowed = '&amp; &lt; &gt; &quot; &apos; and numeric references';
    throw new InvalidXml(`it holds ${JSON.stringify(reference.slice(0, 20))}; allowed are ${allowed}`);
  });
}
