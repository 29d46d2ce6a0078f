import { expect, test } from 'vitest';
import { episodeDublinCore } from './dublincore.ts';

const event = {
  id: 'e-1',
  title: 'Lecture 1',
  description: '',
  subjects: [],
  language: '',
  rights_holder: '',
  license: '',
  presenters: [],
  contributors: [],
  location: '',
  source: '',
  publisher: '',
  series_id: null,
  start_date: new Date('2024-05-02T08:00:00Z'),
  created: new Date('2024-05-01T07:00:00.250Z'),
  duration: null,
  creator: 'API User',
  archive_version: 0,
  processing_state: '',
  inserted_at: new Date(),
};

test('a bare event has no empty terms', () => {
  expect(episodeDublinCore(event)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<dublincore xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <dcterms:title>Lecture 1</dcterms:title>
  <dcterms:identifier>e-1</dcterms:identifier>
  <dcterms:created xsi:type="dcterms:W3CDTF">2024-05-01T07:00:00Z</dcterms:created>
  <dcterms:temporal xsi:type="dcterms:Period">start=2024-05-02T08:00:00Z; scheme=W3C-DTF;</dcterms:temporal>
</dublincore>
`);
});

test('every field has its term, and lists repeat theirs in order', () => {
  const xml = episodeDublinCore({
    ...event,
    description: 'On numbers',
    subjects: ['Maths', 'Logic'],
    language: 'deu',
    rights_holder: 'The university',
    license: 'CC-BY',
    presenters: ['Ada L.', 'Charles B.'],
    contributors: ['Camera crew'],
    location: 'Hall 3',
    source: 'https://example.org/',
    publisher: 'publisher@example.org',
    series_id: 's-1',
    duration: 90_500,
  });
  expect(
    [...xml.matchAll(/<dcterms:([^ >]+)[^>]*>([^<]*)</g)].map(([, name, value]) => [name, value]),
  ).toEqual([
    ['title', 'Lecture 1'],
    ['identifier', 'e-1'],
    ['creator', 'Ada L.'],
    ['creator', 'Charles B.'],
    ['contributor', 'Camera crew'],
    ['subject', 'Maths'],
    ['subject', 'Logic'],
    ['description', 'On numbers'],
    ['language', 'deu'],
    ['license', 'CC-BY'],
    ['rightsHolder', 'The university'],
    ['isPartOf', 's-1'],
    ['spatial', 'Hall 3'],
    ['source', 'https://example.org/'],
    ['publisher', 'publisher@example.org'],
    ['created', '2024-05-01T07:00:00Z'],
    ['temporal', 'start=2024-05-02T08:00:00Z; end=2024-05-02T08:01:30Z; scheme=W3C-DTF;'],
    ['extent', 'PT90.5S'],
  ]);
});

test('markup in a field stays text', () => {
  const xml = episodeDublinCore({ ...event, title: '</dublincore><x a="1">&amp; ]]>' });
  expect(xml).toContain(
    '<dcterms:title>&lt;/dublincore&gt;&lt;x a=&quot;1&quot;&gt;&amp;amp; ]]&gt;</dcterms:title>',
  );
});

test('characters that XML cannot hold are left out, all others stay', () => {
  const title = 'a\u0000b\u0008c\u000bd\ufffee\uffff\ud800f \t\n 𝕏 ü \u0085';
  const xml = episodeDublinCore({ ...event, title, description: 'one\r\ntwo' });
  expect(xml).toContain('<dcterms:title>abcdef \t\n 𝕏 ü \u0085</dcterms:title>');
  expect(xml).toContain('<dcterms:description>one&#13;\ntwo</dcterms:description>');
});

test('a term of illegal characters alone does not end the catalog early', () => {
  expect(episodeDublinCore({ ...event, title: '\u0001' })).toContain('<dcterms:title></dcterms:title>');
});
