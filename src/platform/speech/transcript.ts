import { z } from 'zod';
import { captionCues, readCaptions } from '../media/captions.ts';
import { tryParseJson } from '../text/json.ts';

/** A stretch of speech. Times are in milliseconds. */
export interface Segment {
  begin: number;
  end: number;
  text: string;
}

/** The speech in a sound, in the order of time. */
export interface Transcript {
  segments: Segment[];
  /** A BCP 47 tag; undefined if unknown. */
  language: string | undefined;
}

/** The answer of a recognizer is no transcript. The message is a clause without a full stop. */
export class UnusableTranscript extends Error {
  override name = 'UnusableTranscript';
}

/** The formats of answers, the preferred one first. */
export const TRANSCRIPT_FORMATS = ['verbose_json', 'vtt', 'srt'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

const MAX_SEGMENTS = 100_000;
/** The shortest time for which a segment is shown. */
const SHORTEST_MS = 200;
/** Sounds are padded, and recognizers round up. */
const TOLERANCE_MS = 2000;

const Answer = z.object({
  text: z.string().optional(),
  language: z.string().nullish(),
  segments: z
    .array(z.object({ start: z.number(), end: z.number(), text: z.string() }))
    .max(MAX_SEGMENTS)
    .nullish(),
});

/**
 * Parses the answer of a recognizer: JSON with segments, WebVTT or SubRip, whatever was asked for.
 *
 * @param lengthMs of the sound
 * @returns undefined for a text without times: another format may have them
 * @throws {UnusableTranscript}
 */
export function parseTranscript(
  body: Uint8Array,
  { lengthMs, format }: { lengthMs: number; format: TranscriptFormat },
): Transcript | undefined {
  const text = new TextDecoder().decode(body).trim();
  if (/^<(?:!doctype|html|\?xml)/i.test(text)) throw new UnusableTranscript('it answered with a web page');
  const json = tryParseJson(text);
  if (typeof json === 'object' && json !== null) return fromJson(json, lengthMs);
  // Silence has no captions.
  if (/^WEBVTT[^\n]*$/.test(text) || (text === '' && format === 'srt')) return { segments: [], language: undefined };
  const captions = readCaptions(body);
  if (captions) return { segments: withinSound(captionCues(captions), lengthMs), language: undefined };
  if (text !== '' && format === 'verbose_json' && json === undefined && !text.startsWith('{')) return undefined;
  throw new UnusableTranscript('its answer is neither JSON nor WebVTT nor SubRip');
}

function fromJson(json: object, lengthMs: number): Transcript | undefined {
  const parsed = Answer.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UnusableTranscript(`the field "${issue?.path.join('.') ?? ''}" of its answer is invalid`);
  }
  const { text, language, segments } = parsed.data;
  if (segments === undefined && text === undefined) throw new UnusableTranscript('its answer has no segments');
  if (!segments?.length && text?.trim()) return undefined;
  const found = (segments ?? []).map(({ start, end, text }) => ({ begin: start * 1000, end: end * 1000, text }));
  return { segments: withinSound(found, lengthMs), language: language ? languageTag(language) : undefined };
}

/** Sorts segments and limits them to the sound. @throws {UnusableTranscript} if all of them lie beyond its end */
function withinSound(segments: readonly Segment[], lengthMs: number): Segment[] {
  const spoken = segments.map(({ text, ...times }) => ({ ...times, text: plain(text) })).filter(({ text }) => text);
  const inside = spoken.filter(({ begin }) => begin < lengthMs + TOLERANCE_MS);
  if (spoken.length > 0 && inside.length === 0)
    throw new UnusableTranscript('all times in its answer lie beyond the end of the sound');
  return inside
    .map(({ begin, end, text }) => {
      const from = clamp(begin, 0, Math.max(0, lengthMs - SHORTEST_MS));
      return { begin: from, end: clamp(end, from + SHORTEST_MS, Math.max(lengthMs, from + SHORTEST_MS)), text };
    })
    .sort((a, b) => a.begin - b.begin || a.end - b.end);
}

function plain(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

function clamp(value: number, least: number, most: number): number {
  return Math.round(Math.min(most, Math.max(least, value)));
}

/** Returns the tag of a language that is named in English, as in `german`, or by a code, as in `de` and `deu`. */
export function languageTag(name: string): string | undefined {
  const wanted = name.trim().toLowerCase().replaceAll('_', '-');
  if (!/^[a-z]{2,3}(-[a-z0-9]{1,8})*$/.test(wanted)) return languagesByName().get(wanted);
  try {
    return Intl.getCanonicalLocales(wanted)[0];
  } catch {
    return undefined;
  }
}

let byName: ReadonlyMap<string, string> | undefined;

/** Returns the codes of languages with two letters by their English names. */
function languagesByName(): ReadonlyMap<string, string> {
  if (byName) return byName;
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  byName = new Map(
    codes
      .toReversed()
      .flatMap((code) => [names.of(code)?.toLowerCase()].flatMap((name) => (name ? [[name, code] as const] : []))),
  );
  return byName;
}

/** Returns true if two tags name the same language, in whatever region. */
export function isSameLanguage(one: string, other: string): boolean {
  const [a, b] = [one, other].map((tag) => (languageTag(tag) ?? tag).split('-', 1)[0]?.toLowerCase());
  return a === b;
}
