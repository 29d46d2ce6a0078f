import type { Selectable } from 'kysely';
import type { Event } from '../database/schema.ts';
import { formatInstant } from './time.ts';
import { xmlText } from './xml.ts';

const NAMESPACES = [
  'xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/"',
  'xmlns:dcterms="http://purl.org/dc/terms/"',
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
].join(' ');

type Term = [name: string, value: string | null, type?: 'W3CDTF' | 'Period' | 'ISO8601'];

/**
 * The episode catalog of an event as Dublin Core XML, in the form Opencast writes and its clients read. Terms
 * without a value are left out; a term with several values is repeated.
 */
export function episodeDublinCore(event: Selectable<Event>): string {
  const terms: Term[] = [
    ['title', event.title],
    ['identifier', event.id],
    ...repeated('creator', event.presenters),
    ...repeated('contributor', event.contributors),
    ...repeated('subject', event.subjects),
    ['description', event.description],
    ['language', event.language],
    ['license', event.license],
    ['rightsHolder', event.rights_holder],
    ['isPartOf', event.series_id],
    ['spatial', event.location],
    ['source', event.source],
    ['publisher', event.publisher],
    ['created', formatInstant(event.created), 'W3CDTF'],
    ['temporal', period(event.start_date, event.duration), 'Period'],
    ['extent', event.duration === null ? null : `PT${event.duration / 1000}S`, 'ISO8601'],
  ];
  const lines = terms.filter(([, value]) => value).map(element);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<dublincore ${NAMESPACES}>\n${lines.join('')}</dublincore>\n`;
}

function repeated(name: string, values: readonly string[]): Term[] {
  return values.map((value): Term => [name, value]);
}

function element([name, value, type]: Term): string {
  const attribute = type ? ` xsi:type="dcterms:${type}"` : '';
  return `  <dcterms:${name}${attribute}>${xmlText(value ?? '')}</dcterms:${name}>\n`;
}

function period(start: Date, duration: number | null): string {
  const end = duration === null ? '' : `end=${formatInstant(new Date(start.getTime() + duration))}; `;
  return `start=${formatInstant(start)}; ${end}scheme=W3C-DTF;`;
}
