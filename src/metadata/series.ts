import type { FieldType, MetadataCatalog, MetadataField } from './catalog.ts';

/** A description in the size of text_long, although its type is text. */
const DESCRIPTION_BYTES = 100_000;

function field(id: string, label: string, type: FieldType, more: Partial<MetadataField> = {}): MetadataField {
  const prefix = 'EVENTS.SERIES.DETAILS.METADATA.';
  return { id, label: prefix + label, type, required: false, readOnly: false, term: id, ...more };
}

/** The default catalog of series (compatibility 4.7); the order is part of the contract. */
export const SERIES: MetadataCatalog = {
  flavor: 'dublincore/series',
  title: 'Opencast Series DublinCore',
  fields: [
    field('title', 'TITLE', 'text', { required: true }),
    field('subjects', 'SUBJECT', 'list', { singular: 'subject', term: 'subject' }),
    field('description', 'DESCRIPTION', 'text', { maxBytes: DESCRIPTION_BYTES }),
    field('language', 'LANGUAGE', 'text', { translatable: true, listProvider: 'LANGUAGES' }),
    field('rightsHolder', 'RIGHTS', 'text'),
    field('license', 'LICENSE', 'text', { translatable: true, listProvider: 'LICENSES' }),
    field('creator', 'ORGANIZERS', 'mixed_text', { translatable: false }),
    field('contributor', 'CONTRIBUTORS', 'mixed_text', { translatable: false }),
    field('publisher', 'PUBLISHERS', 'mixed_text', { translatable: false }),
    field('createdBy', 'CREATED_BY', 'text', { readOnly: true, outputOnly: true, term: undefined }),
    field('identifier', 'ID', 'text', { readOnly: true }),
  ],
};
