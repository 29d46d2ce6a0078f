import type { HttpError } from '#platform/http/errors/errors.ts';
import type { XmlElement } from '#platform/text/xml.ts';
import { type CatalogValues, type MetadataCatalog, type MetadataField, takesList } from './catalog.ts';
import { formatDuration, parseDateTime, parseDuration } from './time.ts';
import { readValue } from './values.ts';

const PERIOD_PART = /(start|end)\s*=\s*([^;]+)/gi;
const ISO_DURATION = /^P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,9})?)S)?$/;

/** From when to when something took place or is to; either may be missing. */
export interface DatedPeriod {
  start: Date | undefined;
  end: Date | undefined;
}

/**
 * The values of a catalog in Dublin Core XML, as agents and recorders write it: in whatever namespace its terms are, and
 * with blanks wherever they like. Unknown terms are left out, and so are dates that are none, and durations that no
 * recording has.
 *
 * @param refuse makes the refusal of a value that its field cannot hold
 * @throws what `refuse` makes
 */
export function readDublinCore(
  root: XmlElement,
  catalog: MetadataCatalog,
  refuse: (reason: string) => HttpError,
): CatalogValues {
  const values: CatalogValues = new Map();
  const reading = { refuse, emptyBadDates: true };
  for (const field of catalog.fields) {
    const texts = field.term === undefined ? [] : termTexts(root, field.term);
    if (texts.length === 0) continue;
    const value = takesList(field) ? texts : textOf(field, texts[0] ?? '');
    values.set(field.id, readValue(field, field.id, value, reading));
  }
  const { start, end } = periodIn(root);
  const duration = catalog.fields.find(({ type }) => type === 'duration');
  const length = start && end && end > start ? readable(end.getTime() - start.getTime()) : '';
  if (duration && length !== '') values.set(duration.id, length);
  return values;
}

/** The texts of a term that say something, in the order of the XML. */
export function termTexts(root: XmlElement, term: string): string[] {
  return root.children
    .filter(({ name }) => name === term)
    .map(({ text }) => text.trim())
    .filter((text) => text !== '');
}

/** When a recording takes place, by its first `temporal`: a period, or the instant at which it starts. */
export function periodIn(root: XmlElement): DatedPeriod {
  return parsePeriod(termTexts(root, 'temporal')[0] ?? '');
}

function textOf({ type }: MetadataField, text: string): string {
  if (type === 'start_date') return parsePeriod(text).start?.toISOString() ?? '';
  if (type === 'duration') return durationOf(text);
  return text;
}

function parsePeriod(text: string): DatedPeriod {
  const parts = new Map([...text.matchAll(PERIOD_PART)].map(([, name, value]) => [name?.toLowerCase(), value]));
  if (parts.size === 0) return { start: parseDateTime(text), end: undefined };
  return { start: parseDateTime(parts.get('start') ?? ''), end: parseDateTime(parts.get('end') ?? '') };
}

/** `HH:mm:ss` of an ISO 8601 duration; empty for what is none, or too long for a recording. */
function durationOf(text: string): string {
  const [whole, days = 0, hours = 0, minutes = 0, seconds = 0] = ISO_DURATION.exec(text) ?? [];
  if (whole === undefined) return '';
  const total = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return readable(Math.round(total * 1000));
}

/** `HH:mm:ss` of milliseconds; empty when it could not be read back. */
function readable(milliseconds: number): string {
  const text = formatDuration(milliseconds);
  return parseDuration(text) === undefined ? '' : text;
}
