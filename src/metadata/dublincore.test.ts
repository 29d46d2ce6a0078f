import { describe, expect, test } from 'vitest';
import { badRequest } from '#platform/http/errors/errors.ts';
import { parseXml } from '#platform/text/xml.ts';
import { catalogValues, LECTURE } from '#test/support/lecture-metadata.ts';
import type { FieldValue } from './catalog.ts';
import { dublinCore, readDublinCore } from './dublincore.ts';
import { EPISODE } from './episode-fields.ts';
import { SERIES } from './series-fields.ts';

const bare = {
  title: 'Lecture 1',
  description: '',
  creator: [],
  isPartOf: '',
  startDate: '2024-05-02T08:00:00.000Z',
  startTime: '08:00',
  duration: '',
  created: '2024-05-01T07:00:00.250Z',
  identifier: 'e-1',
};
const episode = (fields: Record<string, FieldValue>) => dublinCore(EPISODE, catalogValues({ ...bare, ...fields }));

const termsIn = (xml: string) =>
  [...xml.matchAll(/<dcterms:([^ >]+)[^>]*>([^<]*)</g)].map(([, name, value]) => [name, value]);

test('a bare event has no empty terms', () => {
  expect(episode({})).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<dublincore xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <dcterms:title>Lecture 1</dcterms:title>
  <dcterms:temporal xsi:type="dcterms:Period">start=2024-05-02T08:00:00Z; scheme=W3C-DTF;</dcterms:temporal>
  <dcterms:created xsi:type="dcterms:W3CDTF">2024-05-01T07:00:00Z</dcterms:created>
  <dcterms:identifier>e-1</dcterms:identifier>
</dublincore>
`);
});

test('every field of an event has its term, and lists repeat theirs in order', () => {
  const { description, language, rightsHolder, license, isPartOf } = LECTURE;
  expect(termsIn(dublinCore(EPISODE, catalogValues(LECTURE)))).toEqual([
    ['title', 'Lecture 1'],
    ['subject', 'Maths'],
    ['subject', 'Logic'],
    ...Object.entries({ description, language, rightsHolder, license, isPartOf }),
    ['creator', 'Ada L.'],
    ['creator', 'Charles B.'],
    ['contributor', 'Camera crew'],
    ['temporal', 'start=2024-05-02T08:30:15Z; end=2024-05-02T09:32:18Z; scheme=W3C-DTF;'],
    ['extent', 'PT3723.5S'],
    ['spatial', 'Hall 3'],
    ['source', 'https://example.org/'],
    ['created', '2024-05-01T07:00:00Z'],
    ['publisher', 'press@example.org'],
    ['identifier', 'e-1'],
  ]);
});

test('the account that created a series is no part of its Dublin Core', () => {
  const rings = { title: 'Rings', publisher: ['A', 'B'], createdBy: 'ada', identifier: 's-1' };
  expect(termsIn(dublinCore(SERIES, catalogValues(rings)))).toEqual([
    ['title', 'Rings'],
    ['publisher', 'A'],
    ['publisher', 'B'],
    ['identifier', 's-1'],
  ]);
});

test('markup in a field stays text, and characters that XML cannot hold are left out, all others stay', () => {
  expect(episode({ title: '</dublincore><x a="1">&amp; ]]>' })).toContain(
    '<dcterms:title>&lt;/dublincore&gt;&lt;x a=&quot;1&quot;&gt;&amp;amp; ]]&gt;</dcterms:title>',
  );
  const title = 'a\u0000b\u0008c\u000bd\ufffee\uffff\ud800f \t\n 𝕏 ü \u0085';
  const xml = episode({ title, description: 'one\r\ntwo' });
  expect(xml).toContain('<dcterms:title>abcdef \t\n 𝕏 ü \u0085</dcterms:title>');
  expect(xml).toContain('<dcterms:description>one&#13;\ntwo</dcterms:description>');
  // A term of such characters alone does not end the catalog early.
  expect(episode({ title: '\u0001' })).toContain('<dcterms:title></dcterms:title>');
});

describe('read from XML', () => {
  const read = (...terms: string[]) =>
    readDublinCore(parseXml(`<dublincore>${terms.join('')}</dublincore>`), EPISODE, badRequest);
  const temporal = (start: string, end: string) => `<temporal>start=${start}; end=${end};</temporal>`;

  test('a period is the start and the duration', () => {
    const values = read(temporal('2026-01-31T13:30:00Z', '2026-01-31T15:00:00Z'));
    const period = [values.get('startDate'), values.get('duration')];
    expect(period).toEqual(['2026-01-31T13:30:00.000Z', '01:30:00']);
  });

  test('a clock that is wrong costs no catalog: a period of years has no duration', () => {
    const values = read(temporal('1970-01-01T00:00:00Z', '2026-01-31T15:00:00Z'), '<title>Kept</title>');
    expect([values.get('title'), values.has('duration')]).toEqual(['Kept', false]);
    expect(read('<extent>PT9999H59M59.9999S</extent>').get('duration')).toBe('');
    expect(read('<extent>P99999999999999999999999D</extent>').get('duration')).toBe('');
  });

  test('a text that is too long for its field is cut after its last whole character', () => {
    const values = read(
      `<subject>Logic</subject><subject>${'ü'.repeat(1500)}</subject>`,
      `<title>x${'ü'.repeat(1500)}</title>`,
    );
    expect(values.get('subjects')).toEqual(['Logic', 'ü'.repeat(1000)]);
    expect(values.get('title')).toBe(`x${'ü'.repeat(999)}`);
  });

  test.each(['0001-01-01T00:00:00+01:00', '9999-12-31T23:30:00-01:00', 'soon'])(
    'the date %s, which is none in UTC, is left out',
    (date) => {
      const values = read(`<created>${date}</created>`, `<temporal>${date}</temporal>`);
      expect([values.get('created'), values.get('startDate')]).toEqual(['', '']);
    },
  );
});
