import { SERIES_ID } from '../events/examples.ts';
import { exampleOf } from '../metadata/core-json.ts';
import { exampleFields } from '../metadata/examples.ts';
import { SERIES_CORE_FIELDS } from '../metadata/series.ts';

export { SERIES_ID };

export const SERIES_FIELDS = exampleFields(SERIES_CORE_FIELDS, ['title', 'subjects', 'creator']);

export const SERIES_CATALOGS = [
  {
    flavor: 'dublincore/series',
    title: 'Opencast Series DublinCore',
    label: 'Opencast Series DublinCore',
    fields: SERIES_FIELDS,
  },
];

export const SERIES = {
  identifier: SERIES_ID,
  ...exampleOf(SERIES_CORE_FIELDS),
  creator: 'video-team',
  created: '2026-09-01T10:00:00Z',
};
