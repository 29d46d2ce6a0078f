import type { Series } from '#platform/database/schema.ts';
import type { MetadataCatalog } from './catalog.ts';
import { fieldsOf } from './core-fields.ts';

/** The limit of `text_long`, for a field of the type `text`. */
const DESCRIPTION_BYTES = 100_000;

const field = fieldsOf<keyof Series & string>('EVENTS.SERIES.DETAILS.METADATA.');

/** The fields of series (compatibility 4.7); the order is part of the contract. */
export const SERIES_CORE_FIELDS = [
  field('title', 'TITLE', 'text', {
    required: true,
    ...{ column: 'title', json: 'title', filter: { name: 'title' }, sort: 'title' },
    example: 'Analysis I',
  }),
  field('subjects', 'SUBJECT', 'list', {
    ...{ singular: 'subject', term: 'subject' },
    ...{ column: 'subjects', json: 'subjects', filter: { name: 'subject', repeated: 'any' } },
    example: ['Mathematics'],
  }),
  field('description', 'DESCRIPTION', 'text', {
    maxBytes: DESCRIPTION_BYTES,
    ...{ column: 'description', json: 'description', filter: { name: 'description', since: '1.1.0' } },
    example: 'Lectures of the winter term',
  }),
  field('language', 'LANGUAGE', 'text', {
    ...{ translatable: true, listProvider: 'LANGUAGES' },
    ...{ column: 'language', json: 'language', since: '1.1.0', filter: { name: 'language', since: '1.0.0' } },
    example: 'eng',
  }),
  field('rightsHolder', 'RIGHTS', 'text', {
    ...{ column: 'rights_holder', json: 'rightsholder', since: '1.1.0', filter: { name: 'rightsholder' } },
    example: 'University of Example',
  }),
  field('license', 'LICENSE', 'text', {
    ...{ translatable: true, listProvider: 'LICENSES' },
    ...{ column: 'license', json: 'license', since: '1.1.0', filter: { name: 'license', since: '1.0.0' } },
    example: 'CC-BY',
  }),
  field('creator', 'ORGANIZERS', 'mixed_text', {
    translatable: false,
    // In the JSON, `creator` is the account that created the series; as a sort criterion it means the organizers.
    ...{ column: 'organizers', json: 'organizers', sort: 'creator' },
    filter: { name: 'organizers', repeated: 'any' },
    example: ['Institute of Mathematics'],
  }),
  field('contributor', 'CONTRIBUTORS', 'mixed_text', {
    translatable: false,
    ...{ column: 'contributors', json: 'contributors', sort: 'contributors' },
    filter: { name: 'contributors', repeated: 'any' },
  }),
  field('publisher', 'PUBLISHERS', 'mixed_text', {
    translatable: false,
    ...{ column: 'publishers', json: 'publishers' },
    filter: { name: 'publishers', since: '1.1.0', repeated: 'any' },
  }),
  field('createdBy', 'CREATED_BY', 'text', { readOnly: true, outputOnly: true, term: undefined }),
  field('identifier', 'ID', 'text', { readOnly: true }),
] as const;

/** The default catalog of series. */
export const SERIES: MetadataCatalog = {
  flavor: 'dublincore/series',
  title: 'Opencast Series DublinCore',
  fields: SERIES_CORE_FIELDS,
};
