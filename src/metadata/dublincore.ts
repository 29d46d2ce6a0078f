import type { HttpError } from '#platform/http/errors/errors.ts';
import type { XmlElement } from '#platform/text/xml.ts';
import { type CatalogValues, type FieldValue, type MetadataCatalog, type MetadataField, takesList } from './catalog.ts';
import { formatDuration, formatInstant, parseDateTime, parseDuration } from './date-time.ts';
import { readValue } from './field-values.ts';
import { xmlText } from './xml-text.ts';

const NAMESPACES = [
  'xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/"',
  'xmlns:dcterms="http://purl.org/dc/terms/"',
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
].join(' ');

interface Term {
  name: string;
  value: string;
  encoding?: 'W3CDTF' | 'Period' | 'ISO8601';
}

/**
 * Returns a catalog as Dublin Core XML in the form of Opencast: the term of each field, in the order of the catalog. Empty
 * fields are omitted; a term with several values is repeated.
 */
export function dublinCore(catalog: MetadataCatalog, values: CatalogValues): string {
  const lines = allTerms(catalog, values).map(element);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<dublincore ${NAMESPACES}>\n${lines.join('')}</dublincore>\n`;
}

/** Returns the values of a catalog as in its Dublin Core XML, by term. Empty fields are omitted. */
export function dublinCoreTerms(catalog: MetadataCatalog, values: CatalogValues): Map<string, string[]> {
  const terms = Map.groupBy(allTerms(catalog, values), ({ name }) => name);
  return new Map([...terms].map(([name, all]) => [name, all.map(({ value }) => value)]));
}

function allTerms(catalog: MetadataCatalog, values: CatalogValues): Term[] {
  const duration = durationIn(catalog, values);
  return catalog.fields
    .flatMap((field) => termsOf(field, values.get(field.id) ?? '', duration))
    .filter(({ value }) => value !== '');
}

function termsOf(field: MetadataField, value: FieldValue, duration: number | undefined): Term[] {
  const name = field.term;
  if (name === undefined) return [];
  if (Array.isArray(value)) return value.map((item) => ({ name, value: item }));
  const date = parseDateTime(value);
  switch (field.type) {
    case 'date':
      return date ? [{ name, value: formatInstant(date), encoding: 'W3CDTF' }] : [];
    case 'start_date':
      return date ? [{ name, value: period(date, duration), encoding: 'Period' }] : [];
    case 'duration':
      return duration === undefined ? [] : [{ name, value: `PT${duration / 1000}S`, encoding: 'ISO8601' }];
    default:
      return [{ name, value }];
  }
}

function element({ name, value, encoding }: Term): string {
  const attribute = encoding ? ` xsi:type="dcterms:${encoding}"` : '';
  return `  <dcterms:${name}${attribute}>${xmlText(value)}</dcterms:${name}>\n`;
}

function period(start: Date, duration: number | undefined): string {
  const end = duration === undefined ? '' : `end=${formatInstant(new Date(start.getTime() + duration))}; `;
  return `start=${formatInstant(start)}; ${end}scheme=W3C-DTF;`;
}

/** Milliseconds. */
function durationIn(catalog: MetadataCatalog, values: CatalogValues): number | undefined {
  const field = catalog.fields.find(({ type }) => type === 'duration');
  const value = field && values.get(field.id);
  return typeof value === 'string' ? parseDuration(value) : undefined;
}

const PERIOD_PART = /(start|end)\s*=\s*([^;]+)/gi;
const ISO_DURATION = /^P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,9})?)S)?$/;

/** The start and end of a recording; either may be missing. */
interface DatedPeriod {
  start: Date | undefined;
  end: Date | undefined;
}

/**
 * Reads the values of a catalog from Dublin Core XML of capture agents, in any namespace. Ignores unknown terms, invalid
 * dates, and durations that are invalid or too long; cuts texts that are too long. Stud.IP sends the description of a course
 * as a subject.
 *
 * @param refuse returns the error for a value that its field cannot hold
 */
export function readDublinCore(
  root: XmlElement,
  catalog: MetadataCatalog,
  refuse: (reason: string) => HttpError,
): CatalogValues {
  const values: CatalogValues = new Map();
  const reading = { refuse, emptyBadDates: true, cutsLongTexts: true };
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

/** Returns the texts of a term that are not empty. */
export function termTexts(root: XmlElement, term: string): string[] {
  return root.children
    .filter(({ name }) => name === term)
    .map(({ text }) => text.trim())
    .filter((text) => text !== '');
}

/** Returns the time of a recording from its first `temporal`, which is a period or a start. */
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

/** Converts an ISO 8601 duration to `HH:mm:ss`; empty if it is invalid or too long. */
function durationOf(text: string): string {
  const [whole, days = 0, hours = 0, minutes = 0, seconds = 0] = ISO_DURATION.exec(text) ?? [];
  if (whole === undefined) return '';
  const total = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return readable(Math.round(total * 1000));
}

/** Returns `HH:mm:ss`; empty if it is too long to be parsed again. */
function readable(milliseconds: number): string {
  const text = formatDuration(milliseconds);
  return parseDuration(text) === undefined ? '' : text;
}
