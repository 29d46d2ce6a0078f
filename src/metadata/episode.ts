import type { FieldType, MetadataCatalog, MetadataField } from './catalog.ts';

const PREFIX = 'EVENTS.EVENTS.DETAILS.METADATA.';

function field(id: string, label: string, type: FieldType, more: Partial<MetadataField> = {}): MetadataField {
  return { id, label: PREFIX + label, type, required: false, readOnly: false, ...more };
}

/** The default catalog of events (compatibility 3.9); the order is part of the contract. */
export const EPISODE: MetadataCatalog = {
  flavor: 'dublincore/episode',
  title: 'EVENTS.EVENTS.DETAILS.CATALOG.EPISODE',
  fields: [
    field('title', 'TITLE', 'text', { required: true }),
    field('subjects', 'SUBJECT', 'list', { singular: 'subject' }),
    field('description', 'DESCRIPTION', 'text_long'),
    field('language', 'LANGUAGE', 'text'),
    field('rightsHolder', 'RIGHTS', 'text'),
    field('license', 'LICENSE', 'text'),
    field('isPartOf', 'SERIES', 'text'),
    field('creator', 'PRESENTERS', 'mixed_text'),
    field('contributor', 'CONTRIBUTORS', 'mixed_text'),
    field('startDate', 'START_DATE', 'date'),
    field('startTime', 'START_TIME', 'time'),
    field('duration', 'DURATION', 'duration'),
    field('location', 'LOCATION', 'text'),
    field('source', 'SOURCE', 'text'),
    field('created', 'CREATED', 'date', { readOnly: true }),
    field('publisher', 'PUBLISHER', 'text', { readOnly: true }),
    field('identifier', 'ID', 'text', { readOnly: true }),
  ],
};
