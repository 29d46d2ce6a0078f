import type { CatalogValues, FieldValue } from '#metadata/catalog.ts';

export const catalogValues = (fields: Record<string, FieldValue>): CatalogValues => new Map(Object.entries(fields));

/** A value for each field of the common catalog of an event. */
export const LECTURE = {
  title: 'Lecture 1',
  subjects: ['Maths', 'Logic'],
  description: 'On numbers',
  language: 'deu',
  rightsHolder: 'The university',
  license: 'CC-BY',
  isPartOf: 's-1',
  creator: ['Ada L.', 'Charles B.'],
  contributor: ['Camera crew'],
  startDate: '2024-05-02T08:30:15.250Z',
  duration: '01:02:03.500',
  location: 'Hall 3',
  source: 'https://example.org/',
  created: '2024-05-01T07:00:00.250Z',
  publisher: 'press@example.org',
  identifier: 'e-1',
};
