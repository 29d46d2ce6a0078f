import type { Event } from '#platform/database/schema.ts';
import type { MetadataCatalog } from './catalog.ts';
import { fieldsOf } from './core-fields.ts';

const field = fieldsOf<keyof Event & string>('EVENTS.EVENTS.DETAILS.METADATA.');

/** The fields of events (compatibility 3.9); the order is part of the contract. */
export const EVENT_CORE_FIELDS = [
  field('title', 'TITLE', 'text', {
    required: true,
    ...{ column: 'title', json: 'title', filter: { name: 'title', since: '1.1.0' }, sort: 'title' },
    example: 'Analysis I, lecture 1',
  }),
  field('subjects', 'SUBJECT', 'list', {
    ...{ singular: 'subject', term: 'subject' },
    ...{ column: 'subjects', json: 'subjects', filter: { name: 'subject' } },
    example: ['Mathematics'],
  }),
  field('description', 'DESCRIPTION', 'text_long', {
    ...{ column: 'description', json: 'description', filter: { name: 'description', since: '1.1.0' } },
    example: 'Real numbers and sequences',
  }),
  field('language', 'LANGUAGE', 'text', {
    ...{ translatable: true, listProvider: 'LANGUAGES' },
    ...{ column: 'language', json: 'language', since: '1.1.0', filter: { name: 'language' } },
    example: 'eng',
  }),
  field('rightsHolder', 'RIGHTS', 'text', {
    ...{ column: 'rights_holder', json: 'rightsholder', since: '1.1.0', filter: { name: 'rightsholder' } },
    example: 'University of Example',
  }),
  field('license', 'LICENSE', 'ordered_text', {
    ...{ translatable: true, listProvider: 'LICENSES' },
    ...{ column: 'license', json: 'license', since: '1.1.0', filter: { name: 'license' } },
    example: 'CC-BY',
  }),
  field('isPartOf', 'SERIES', 'text', { translatable: false }),
  field('creator', 'PRESENTERS', 'mixed_text', {
    translatable: false,
    ...{ column: 'presenters', json: 'presenter', sort: 'presenter' },
    filter: { name: 'presenters', repeated: 'any' },
    example: ['Emmy N.'],
  }),
  field('contributor', 'CONTRIBUTORS', 'mixed_text', {
    translatable: false,
    ...{ column: 'contributors', json: 'contributor', filter: { name: 'contributors', repeated: 'any' } },
  }),
  field('startDate', 'START_DATE', 'start_date', { term: 'temporal' }),
  field('startTime', 'START_TIME', 'start_time', { term: undefined }),
  field('duration', 'DURATION', 'duration', { term: 'extent' }),
  field('location', 'LOCATION', 'text', {
    term: 'spatial',
    ...{ column: 'location', json: 'location', filter: { name: 'location' }, sort: 'location' },
    example: 'Room 1',
  }),
  field('source', 'SOURCE', 'text', {
    ...{ column: 'source', json: 'source', since: '1.1.0', filter: { name: 'source' } },
  }),
  field('created', 'CREATED', 'date', { readOnly: true }),
  field('publisher', 'PUBLISHER', 'text', { readOnly: true, column: 'publisher' }),
  field('identifier', 'ID', 'text', { readOnly: true }),
] as const;

/** The default catalog of events. */
export const EPISODE: MetadataCatalog = {
  flavor: 'dublincore/episode',
  title: 'EVENTS.EVENTS.DETAILS.CATALOG.EPISODE',
  fields: EVENT_CORE_FIELDS,
};
