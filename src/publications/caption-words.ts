import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Transaction } from '#platform/database/kysely.ts';
import type { TextElsewhere } from '#platform/http/list/index.ts';
import { captionCues } from '#platform/media/captions.ts';

/** Four times the vocabulary of a lecture. */
const MAX_WORDS = 10_000;
/** In UTF-16 units: the words of twenty hours. A longer text would keep the process from other work. */
const MAX_READ = 2 ** 20;
/** In UTF-16 units; the rest of longer words is ignored. So many words fit into a `tsvector`, which holds 1 MiB. */
const MAX_LENGTH = 34;
/** The beginnings of shorter words match too much. */
const LEAST_PREFIX = 3;

/** Stores the words of captions that belong to an element, so that lists find its event. */
export async function saveCaptionWords(
  trx: Transaction,
  { elementId, eventId }: { elementId: string; eventId: string },
  words: readonly string[],
): Promise<void> {
  if (words.length === 0) return;
  await sql`INSERT INTO caption_words (element_id, event_id, words)
    VALUES (${elementId}, ${eventId}, array_to_tsvector(${words}::text[]))`.execute(trx);
}

/** Returns the different words of captions, in lower case, as far as there is room for them. @param captions WebVTT */
export function captionWords(captions: string): string[] {
  const words = new Set<string>();
  let left = MAX_READ;
  for (const { text } of captionCues(captions)) {
    for (const word of wordsIn(text.slice(0, left))) {
      words.add(word);
      if (words.size === MAX_WORDS) return [...words];
    }
    left -= text.length;
    if (left <= 0) break;
  }
  return [...words];
}

function* wordsIn(text: string): Generator<string> {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text.normalize('NFC').toLowerCase());
  for (const { segment, isWordLike } of segments) {
    if (isWordLike) yield segment.slice(0, MAX_LENGTH).toWellFormed();
  }
}

/** The words of the captions of an event; a word is found by its beginning. */
export const CAPTION_WORDS: TextElsewhere = {
  contains: (word) => {
    const query = queryOf(word);
    if (!query) return sql<SqlBool>`false`;
    // The offset keeps the planner from reading all captions with the word to test a few events.
    return sql<SqlBool>`EXISTS (SELECT FROM caption_words AS spoken
      WHERE spoken.event_id = events.id AND spoken.words @@ ${query} OFFSET 0)`;
  },
  rowsWith: (word) => {
    const query = queryOf(word);
    return query && sql`SELECT spoken.event_id FROM caption_words AS spoken WHERE spoken.words @@ ${query}`;
  },
};

/** Returns the query for a word, or for its parts if it has several; undefined without letters and digits. */
function queryOf(text: string): RawBuilder<unknown> | undefined {
  const words = Array.from(wordsIn(text), (word) => {
    const quotedWord = `'${word.replaceAll(/['\\]/g, '$&$&')}'`;
    return word.length >= LEAST_PREFIX ? `${quotedWord}:*` : quotedWord;
  });
  return words.length > 0 ? sql`${words.join(' & ')}::tsquery` : undefined;
}
