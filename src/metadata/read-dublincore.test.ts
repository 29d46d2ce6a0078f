import { expect, test } from 'vitest';
import { badRequest } from '../http/errors.ts';
import { parseXml } from '../xml.ts';
import { EPISODE } from './episode.ts';
import { readDublinCore } from './read-dublincore.ts';

const read = (...terms: string[]) =>
  readDublinCore(parseXml(`<dublincore>${terms.join('')}</dublincore>`), EPISODE, badRequest);
const temporal = (start: string, end: string) => `<temporal>start=${start}; end=${end};</temporal>`;

test('a period is the start and the duration', () => {
  const values = read(temporal('2026-01-31T13:30:00Z', '2026-01-31T15:00:00Z'));
  expect([values.get('startDate'), values.get('duration')]).toEqual(['2026-01-31T13:30:00.000Z', '01:30:00']);
});

test('a clock that is wrong costs no catalog: a period of years has no duration', () => {
  const values = read(temporal('1970-01-01T00:00:00Z', '2026-01-31T15:00:00Z'), '<title>Kept</title>');
  expect([values.get('title'), values.has('duration')]).toEqual(['Kept', false]);
  expect(read('<extent>PT9999H59M59.9999S</extent>').get('duration')).toBe('');
  expect(read('<extent>P99999999999999999999999D</extent>').get('duration')).toBe('');
});

test.each(['0001-01-01T00:00:00+01:00', '9999-12-31T23:30:00-01:00', 'soon'])(
  'the date %s, which is none in UTC, is left out',
  (date) => {
    const values = read(`<created>${date}</created>`, `<temporal>${date}</temporal>`);
    expect([values.get('created'), values.get('startDate')]).toEqual(['', '']);
  },
);
