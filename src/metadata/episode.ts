import type { FieldType, MetadataCatalog, MetadataField } from './catalog.ts';

function field(id: string, label: string, type: FieldType, more: Partial<MetadataField> = {}): MetadataField {
  const prefix = 'EVENTS.EVENTS.DETAILS.METADATA.';
  return { id, label: prefix + label, type, required: false, readOnly: false, term: id, ...more };
}

/** The default catalog of events (compatibility 3.9); the order is part of the contract. */
export const EPISODE: MetadataCatalog = {
  flavor: 'dublincore/episode',
  title: 'EVENTS.EVENTS.DETAILS.CATALOG.EPISODE',
  fields: [
    field('title', 'TITLE', 'text', { required: true }),
    field('subjects', 'SUBJECT', 'list', { singular: 'subject', term: 'subject' }),
    field('description', 'DESCRIPTION', 'text_long'),
    field('language', 'LANGUAGE', 'text', { translatable: true, listProvider: 'LANGUAGES' }),
    field('rightsHolder', 'RIGHTS', 'text'),
    field('license', 'LICENSE', 'ordered_text', { translatable: true, listProvider: 'LICENSES' }),
    field('isPartOf', 'SERIES', 'text', { translatable: false }),
    field('creator', 'PRESENTERS', 'mixed_text', { translatable: false }),
    field('contributor', 'CONTRIBUTORS', 'mixed_text', { translatable: false }),
    field('startDate', 'START_DATE', 'start_date', { term: 'temporal' }),
    field('startTime', 'START_TIME', 'start_time', { term: undefined }),
    field('duration', 'DURATION', 'duration', { term: 'extent' }),
    field('location', 'LOCATION', 'text', { term: 'spatial' }),
    field('source', 'SOURCE', 'text'),
    field('created', 'CREATED', 'date', { readOnly: true }),
    field('publisher', 'PUBLISHER', 'text', { readOnly: true }),
    field('identifier', 'ID', 'text', { readOnly: true }),
  ],
};
