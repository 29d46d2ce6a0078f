import { exampleOf, inOrder } from '#metadata/core-fields.ts';
import { exampleCatalog, exampleFields } from '#metadata/metadata-declarations.ts';
import { SERIES as DEFAULT_CATALOG, SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';
import { SERIES_ID } from '../events/event-examples.ts';

export { SERIES_ID };

export const SERIES_FIELDS = exampleFields(SERIES_CORE_FIELDS, ['title', 'subjects', 'creator']);

export const SERIES_CATALOGS = [{ ...exampleCatalog(DEFAULT_CATALOG), fields: SERIES_FIELDS }];

/** The first properties of a series in its JSON and in the document. */
export const FIRST_SHOWN = [
  'identifier',
  'title',
  'description',
  'creator',
  'created',
  'subjects',
  'contributors',
  'organizers',
  'publishers',
  'language',
  'license',
] as const;

export const SERIES = inOrder(FIRST_SHOWN, {
  identifier: SERIES_ID,
  ...exampleOf(SERIES_CORE_FIELDS),
  creator: 'video-team',
  created: '2026-09-01T10:00:00Z',
});
