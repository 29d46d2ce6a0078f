import { beforeAll, describe, expect, test } from 'vitest';
import { captionWords, saveCaptionWords } from '#publications/caption-words.ts';
import { ownApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { readPage } from '../support/lists.ts';
import { insertElement, insertEvent } from '../support/publication.ts';
import { ace } from '../support/series.ts';

// Every event of it is known: tests look at whole lists.
const app = await ownApp();
const { database } = app;

const cues = (...texts: string[]) =>
  `WEBVTT\n\n${texts.map((text) => `00:00.000 --> 00:01.000\n${text}\n`).join('\n')}`;

/** An event with captions of these texts. @returns the identifier of the captions */
async function insertSpoken(id: string, text: string, title = 'Lecture'): Promise<string> {
  const created = new Date(`2026-01-01T10:00:0${id.charCodeAt(0) % 10}Z`);
  await insertEvent(database, { id, title, start_date: created, created });
  const captions = { event_id: id, kind: 'attachment', flavor: 'captions/delivery' } as const;
  const { id: elementId } = await insertElement(database, app.storage, Buffer.from(text), captions);
  await database.transaction().execute((trx) => saveCaptionWords(trx, { elementId, eventId: id }, captionWords(text)));
  return elementId;
}

let ofA = '';
beforeAll(async () => {
  ofA = await insertSpoken('a', cues('<v Eve>The <b>Eigenvalues</b> of R&amp;D', "L'algèbre linéaire, it's C++."));
  await insertSpoken('b', cues('今天我们学习线性代数', 'The eigenvector.'), 'Algebra');
  await insertSpoken('c', cues(`${'y'.repeat(100)} ${'z'.repeat(50)}`));
});

const found = async (text: string, more = '', headers: Record<string, string> = {}) =>
  (await readPage(app, `/api/events?filter=${encodeURIComponent(`textFilter:${text}`)}${more}`, headers)).ids
    .sort()
    .join('');

describe('textFilter', () => {
  test.each([
    ['eigenvalues', 'a'],
    ['EIGEN', 'ab'],
    ['value', ''],
    ['the', 'ab'],
    ['algebra vector', ''],
    ['algebra eigenvec', 'b'],
    ['algèbre', ''],
    ["l'algèbre", 'a'],
    ["it's", 'a'],
    ['c++', 'a'],
    ['r', 'abc'],
    ['线性代数', 'b'],
    ['Eve', ''],
    ['amp', ''],
    ['+++', ''],
    ["':*\\", ''],
    ['eigenvalues | eigenvector', ''],
    ['zzzz', 'c'],
    ['y'.repeat(40), 'c'],
  ])('%s finds "%s" by the beginnings of words that are said, or in the metadata', async (text, ids) =>
    expect(await found(text)).toBe(ids),
  );

  test('with other filters, or given several times, finds the same', async () => {
    const or = (filter: string) => `&filter=${encodeURIComponent(filter)}`;
    expect(await found('eigenvalues', or('textFilter:zzzz'))).toBe('ac');
    expect(await found('eigenvalues', or('title:Algebra'))).toBe('ab');
    expect(await found('eigen,title:Algebra')).toBe('b');
  });
});

test('words are found only by those who may read the event', async () => {
  await giveAcl(app, 'a', [ace('ROLE_R')]);
  const Authorization = await app.account('reader', 'ROLE_API_EVENTS_VIEW', 'ROLE_R');
  expect(await found('eigen', '', { Authorization })).toBe('a');
});

test('words go with their captions, and with the event', async () => {
  await database.deleteFrom('publication_elements').where('id', '=', ofA).execute();
  expect(await found('eigenvalues')).toBe('');
  await database.deleteFrom('events').where('id', '=', 'b').execute();
  expect(await database.selectFrom('caption_words').select('event_id').execute()).toEqual([{ event_id: 'c' }]);
});

test('words are found among as many and as long ones as there is room for', async () => {
  // Three bytes each.
  const letter = (digit: string) => 'აბგდევზთიკ'[Number(digit)] ?? '';
  const words = Array.from({ length: 12_000 }, (_, i) => [...`${10_000 + i}`.padEnd(55, '0')].map(letter).join(''));
  await insertSpoken('d', cues(words.join(' ')));
  for (const i of [0, 5000, 9999]) expect(await found(words[i] ?? ''), `${i}`).toBe('d');
  for (const word of [words[10_000] ?? '', 'x'.repeat(3000)]) expect(await found(word)).toBe('');
});
