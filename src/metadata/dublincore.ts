import type { CatalogValues, FieldValue, MetadataCatalog, MetadataField } from './catalog.ts';
import { formatInstant, parseDateTime, parseDuration } from './time.ts';
import { xmlText } from './xml.ts';

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
  const duration = durationIn(catalog, values);
  const lines = catalog.fields
    .flatMap((field) => termsOf(field, values.get(field.id) ?? '', duration))
    .filter(({ value }) => value !== '')
    .map(element);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<dublincore ${NAMESPACES}>\n${lines.join('')}</dublincore>\n`;
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
