import { expect, test } from 'vitest';
import { childOf, InvalidXml, parseXml } from './xml.ts';

test('names lose their prefixes, texts keep their characters', () => {
  const root = parseXml(
    '\uFEFF<?xml version="1.0"?>\n<!-- a --><ns2:mediapackage xmlns:ns2="urn:x" id="a&amp;b" ns2:start="1"><ns2:title> Größe &lt;1&#x1F600;<![CDATA[<&]]></ns2:title><x/></ns2:mediapackage>',
  );
  expect(root.name).toBe('mediapackage');
  expect(root.attributes.get('id')).toBe('a&b');
  expect(root.attributes.get('start')).toBe('1');
  expect(childOf(root, 'title')?.text).toBe(' Größe <1😀<&');
  expect(root.children.map(({ name }) => name)).toEqual(['title', 'x']);
});

test.each([
  ['', 'begin'],
  ['Internal Server Error', 'begin'],
  ['{"a": 1}', 'begin'],
  ['<a>', 'well-formed'],
  ['<a></b>', 'well-formed'],
  ['<a/><b/>', 'single element'],
  ['<a>&b;</a>', 'allowed are &amp;'],
  ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 'declares'],
  ['<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 'declares'],
  [`<a>${'<b>'.repeat(60)}${'</b>'.repeat(60)}</a>`, 'well-formed'],
  [`<a>${'<b/>'.repeat(20_001)}</a>`, 'elements'],
  [`<a>${' '.repeat(2 ** 20)}</a>`, 'longer'],
  ['<a>&#xFFFFFF;</a>', 'allowed are &amp;'],
])('what is no XML for us is refused: %.40s', (text, reason) => {
  expect(() => parseXml(text)).toThrow(InvalidXml);
  expect(() => parseXml(text)).toThrow(reason);
});
