import { describe, expect, test } from 'vitest';
import { AgentName } from './agent.schemas.ts';
import { parseConfiguration, parsePropertiesXml, propertiesXml } from './agent-configuration.ts';

const json = (properties: object) => parseConfiguration(JSON.stringify(properties));
const xml = (key: string, value: string) =>
  parseConfiguration(`<properties><entry key="${key}">${value}</entry></properties>`);

test('text, numbers and booleans are kept as text, by key', () => {
  const { properties } = json({ b: 'x', c: 1.5, a: true, ä: '', constructor: 'y' });
  const pairs = [...properties].map((pair) => pair.join('='));
  expect(pairs).toEqual(['a=true', 'b=x', 'c=1.5', 'constructor=y', 'ä=']);
  expect([...parseConfiguration('{"__proto__":"a"}').properties]).toEqual([['__proto__', 'a']]);
  // Of a key given twice the last value counts.
  const text = '<properties><entry key="a">1</entry><entry key="a">2</entry></properties>';
  expect(parseConfiguration(text).properties.get('a')).toBe('2');
});

test('the inputs are the names between the commas', () => {
  const names = ' camera, screen ,,camera,Mikro fön';
  expect(json({ 'capture.device.names': names }).inputs).toEqual(['camera', 'screen', 'Mikro fön']);
  expect(json({ 'capture.device.names': ' ' }).inputs).toEqual([]);
  expect(json({}).inputs).toEqual([]);
});

test('the time zone is an IANA name, in any case of letters, and UTC without one', () => {
  expect(json({ 'capture.device.timezone': ' America/New_York ' }).timeZone).toBe('America/New_York');
  expect(json({ 'capture.device.timezone': 'europe/berlin' }).timeZone).toBe('europe/berlin');
  expect(json({ 'capture.device.timezone.offset': '60' }).timeZone).toBe('UTC');
});

test.each(['', 'Utopia', '+02:00', 'Europe/Berlin; DROP', 'EST5EDT,M3.2.0,M11.1.0', 'x'.repeat(300)])(
  'the time zone %.30j, which there is not, costs nothing else of the configuration',
  (zone) => {
    expect(json({ 'capture.device.timezone': zone, 'capture.device.names': 'camera' })).toMatchObject({
      timeZone: 'UTC',
      unknownZone: zone,
      inputs: ['camera'],
    });
  },
);

test.each(['', ' ', '[]', 'null', '"a"', 'a=1', '{', '{"a":1,}', `${'{"a":'.repeat(5000)}1`])(
  '%.30j is neither a JSON object nor properties XML',
  (text) => {
    expect(() => parseConfiguration(text)).toThrow('The configuration must be a JSON object or Java properties XML.');
  },
);

test.each([null, [], {}, ['a'], { a: 'b' }])('a value %j is refused by the name of its property', (value) => {
  expect(() => json({ fine: 'x', 'not.fine': value })).toThrow(
    'The configuration property "not.fine" must be a string, a number or a boolean.',
  );
});

test.each(['\0', 'a\u001fb', '\ud800', '\uffff'])(
  '%j, which XML does not allow, is refused by its property',
  (value) => {
    const sentence = 'The configuration property "not.fine" contains a character that XML does not allow.';
    expect(() => json({ 'not.fine': value })).toThrow(sentence);
  },
);

test.each(['&#0;', '&#xD800;', '&#xFFFF;', '\u0001'])('the XML value %j is refused', (value) => {
  expect(() => xml('a', value)).toThrow(/(contains a character that XML does not allow|holds "&#xD800;"; allowed are)/);
});

test.each(['', 'a\0', 'a\nb', '\ud800', 'k'.repeat(256)])('the key %.10j is refused', (key) => {
  expect(() => json({ [key]: 'x' })).toThrow(/^The configuration property name ".*" must have 1 to 255/);
});

test('as much as is allowed is taken, and no more', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
  expect(json(many(1000)).properties.size).toBe(1000);
  expect(() => json(many(1001))).toThrow('The configuration has 1001 properties; at most 1000 are allowed.');
  expect(json({ a: 'x'.repeat(10_000) }).properties.get('a')).toHaveLength(10_000);
  expect(() => json({ a: 'x'.repeat(10_001) })).toThrow('The configuration property "a" must have at most 10000');
  expect(() => parseConfiguration(`{${' '.repeat(65_536)}}`)).toThrow(
    expect.objectContaining({ status: 413, message: 'The configuration must have at most 65536 bytes.' }),
  );
});

test('a name that would be lost on its way in an address is none', () => {
  for (const name of ['', '.', '..']) expect(AgentName.safeParse(name).success, name).toBe(false);
  for (const name of ['...', '. .', '.a', 'a/..']) expect(AgentName.safeParse(name).success, name).toBe(true);
});

describe('properties XML', () => {
  const HEAD = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">`;
  const document = (entries: string, head = HEAD) => `${head}\n<properties>${entries}</properties>`;

  test('the XML that Java writes is read, comment and all', () => {
    const written = '\n<comment>of &amp; about</comment>\n<entry key="a">1</entry>\n<entry key="b"/>\n';
    expect(parsePropertiesXml(document(written)).flat()).toEqual(['a', '1', 'b', '']);
  });

  test.each([
    ['nothing', ''],
    ['a declaration', "<?xml version='1.0'?>"],
    ['a document type without an address', '<!DOCTYPE properties>'],
    ['comments around it', "<!-- a --> <!DOCTYPE properties SYSTEM 'x'> <!-- <b> -->"],
  ])('before the properties may stand %s', (_what, head) => {
    expect(parsePropertiesXml(document('<entry key="a">1</entry>', head))).toEqual([['a', '1']]);
  });

  test.each([
    [
      'keep their blanks and lines, and may be CDATA',
      ' x\r\n<![CDATA[<b> & &lt;]]>\ty<!-- z --> ',
      ' x\n<b> & &lt;\ty ',
    ],
    ['have references resolved once, as keys have', '&amp;lt; &quot;&apos;&#228;', '&lt; "\'ä'],
  ])('values %s', (_what, written, value) => {
    const text = document(`<entry key="&lt;&#x1F600;&gt;">${written}</entry>`);
    expect(parsePropertiesXml(text)).toEqual([['<😀>', value]]);
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
      'The configuration contains an XML declaration; only <!DOCTYPE properties SYSTEM "..."> is allowed.',
    );
  });

  test.each(['&a;', '&nbsp;', '&AMP;', '&amp', '& ', '&#x110000;', '&#a;', '&constructor;', '&;'])(
    'the reference %s is refused',
    (reference) => {
      const sentence = /^The configuration (holds "&.*"; allowed are &amp;|is not well-formed XML)/;
      expect(() => parsePropertiesXml(document(`<entry key="a">${reference}</entry>`))).toThrow(sentence);
      expect(() => parsePropertiesXml(document(`<entry key="${reference}">x</entry>`))).toThrow(sentence);
    },
  );

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
    expect(() => parsePropertiesXml(text)).toThrow(/^The configuration (is not|must be properties XML)/);
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
});
