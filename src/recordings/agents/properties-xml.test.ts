import { expect, test } from 'vitest';
import { parsePropertiesXml, propertiesXml } from './properties-xml.ts';

const HEAD = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">`;
const document = (entries: string, head = HEAD) => `${head}\n<properties>${entries}</properties>`;

test('the XML that Java writes is read, comment and all', () => {
  const text = document('\n<comment>of &amp; about</comment>\n<entry key="a">1</entry>\n<entry key="b"/>\n');
  expect(parsePropertiesXml(text)).toEqual([
    ['a', '1'],
    ['b', ''],
  ]);
});

test.each([
  ['nothing', ''],
  ['a declaration', "<?xml version='1.0'?>"],
  ['a document type without an address', '<!DOCTYPE properties>'],
  ['comments around it', "<!-- a --> <!DOCTYPE properties SYSTEM 'x'> <!-- <b> -->"],
])('before the properties may stand %s', (_what, head) => {
  expect(parsePropertiesXml(document('<entry key="a">1</entry>', head))).toEqual([['a', '1']]);
});

test('values keep their blanks and lines, and may be CDATA', () => {
  const value = ' x\r\n<![CDATA[<b> & &lt;]]>\ty<!-- z --> ';
  expect(parsePropertiesXml(document(`<entry key="a">${value}</entry>`))).toEqual([
    ['a', ' x\n<b> & &lt;\ty '],
  ]);
});

test('predefined entities and numeric references are resolved once, in keys as well', () => {
  const text = document('<entry key="&lt;&#x1F600;&gt;">&amp;lt; &quot;&apos;&#228;</entry>');
  expect(parsePropertiesXml(text)).toEqual([['<😀>', '&lt; "\'ä']]);
});

test.each([
  ['an entity', '<!DOCTYPE properties [<!ENTITY a "x">]>', '&a;'],
  [
    'entities of entities',
    '<!DOCTYPE properties [<!ENTITY a "xxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    '&b;',
  ],
  ['an entity in a file', '<!DOCTYPE properties [<!ENTITY a SYSTEM "file:///etc/passwd">]>', '&a;'],
  ['an entity for the document type', '<!DOCTYPE properties [<!ENTITY % a SYSTEM "http://x/"> %a;]>', ''],
  ['a subset without anything in it', '<!DOCTYPE properties SYSTEM "x" []>', ''],
  ['an element', '<!DOCTYPE properties [<!ELEMENT properties ANY>]>', ''],
  ['two document types', `${HEAD}<!DOCTYPE properties [<!ENTITY a "x">]>`, '&a;'],
  ['something inside', HEAD, '<!ENTITY a "x">&a;'],
])('a document that declares %s is refused', (_what, head, value) => {
  expect(() => parsePropertiesXml(document(`<entry key="a">${value}</entry>`, head))).toThrow(
    'The configuration declares something; allowed is <!DOCTYPE properties SYSTEM "..."> alone.',
  );
});

test.each([
  '&a;',
  '&nbsp;',
  '&AMP;',
  '&amp',
  '& ',
  '&#x110000;',
  '&#9999999;',
  '&#a;',
  '&constructor;',
  '&;',
])('the reference %s is refused', (reference) => {
  const sentence = /^The configuration (holds "&.*"; allowed are &amp;|is not well-formed XML)/;
  expect(() => parsePropertiesXml(document(`<entry key="a">${reference}</entry>`))).toThrow(sentence);
  expect(() => parsePropertiesXml(document(`<entry key="${reference}">x</entry>`))).toThrow(sentence);
});

test.each([
  '<properties>',
  '<properties><entry key="a">x</properties>',
  '<properties><entry key="a">x</entry>',
  '<properties><entry key=a>x</entry></properties>',
  '<properties><entry key="a" key="b">x</entry></properties>',
  '<properties><entry key="a"><![CDATA[x</entry></properties>',
  '<properties></properties><properties></properties>',
  '<properties></properties>x',
  '<',
  '<>',
  `<properties>${'<a>'.repeat(20_000)}`,
  `<properties>${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}</properties>`,
])('%.70s is not well-formed', (text) => {
  expect(() => parsePropertiesXml(text)).toThrow(/^The configuration is not well-formed XML/);
});

test.each([
  '<configuration/>',
  '<properties/><properties/>',
  '<properties><entry>x</entry></properties>',
  '<properties><entry key="a" name="b">x</entry></properties>',
  '<properties><entry key="a"><b/></entry></properties>',
  '<properties><property key="a">x</property></properties>',
  '<properties>x</properties>',
  '<properties version="2.0"/>',
  '<properties><toString/><__proto__ key="a"/></properties>',
])('%s is no properties XML', (text) => {
  expect(() => parsePropertiesXml(text)).toThrow(/^The configuration is no(t| properties XML)/);
});

test('what is written is read again, whatever it holds', () => {
  const properties = new Map([
    ['', 'empty'],
    ['<a "b" \'c\' &amp;>', ' ]]> <!-- & --> \r\n\t"\' '],
    ['😀', 'ä\u{10FFFF}\u0085'],
  ]);
  const text = propertiesXml(properties, '</comment>&');
  expect(parsePropertiesXml(text)).toEqual([...properties]);
  expect(text).toContain('<comment>&lt;/comment&gt;&amp;</comment>\n<entry key="">empty</entry>\n');
});
