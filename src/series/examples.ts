import { SERIES_ID } from '../events/examples.ts';
import { exampleField } from '../metadata/examples.ts';

export { SERIES_ID };

const field = exampleField('EVENTS.SERIES.DETAILS.METADATA.');

export const SERIES_FIELDS = [
  field('title', 'TITLE', 'text', 'Analysis I'),
  field('subjects', 'SUBJECT', 'text', ['Mathematics']),
  field('creator', 'ORGANIZERS', 'mixed_text', ['Institute of Mathematics']),
];

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
  title: 'Analysis I',
  description: 'Lectures of the winter term',
  creator: 'video-team',
  created: '2026-09-01T10:00:00Z',
  subjects: ['Mathematics'],
  contributors: [],
  organizers: ['Institute of Mathematics'],
  publishers: [],
  language: 'eng',
  license: 'CC-BY',
  rightsholder: 'University of Example',
};
