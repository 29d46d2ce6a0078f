import { z } from 'zod';
import { flag } from '#platform/http/endpoint/query.schemas.ts';
import { SERIES_PARAMETERS } from './versions.ts';

/** What else to answer of a series. */
export const SeriesQuery = z.object({
  withacl: flag('Also answer the access control list.').meta({
    'x-since': SERIES_PARAMETERS.withacl,
  }),
});

/** The switches of the list of series; what it is filtered and sorted by has grammars of its own. */
export const SeriesListQuery = z.object({
  onlyWithWriteAccess: flag('Only series that the account may change.'),
  ...SeriesQuery.shape,
});

const word = (description: string) => z.string().optional().meta({ description });

/** What to search series by, under the older names. */
export const SeriesSearchQuery = z.object({
  q: word('Words in any field.'),
  seriesId: word('The identifier.'),
  seriesTitle: word('The title.'),
  creator: word('An organizer.'),
  contributor: word('A contributor.'),
  publisher: word('A publisher.'),
  rightsholder: word('The rights holder.'),
  language: word('The language.'),
  license: word('The license.'),
  subject: word('A subject.'),
  description: word('The description.'),
  createdfrom: word('The earliest creation, `YYYY-MM-DDThh:mm:ssZ`.'),
  createdto: word('The latest creation, likewise.'),
  edit: flag('Only series that the account may change.'),
  sort: word('`TITLE`, `CONTRIBUTORS`, `CREATOR` or `CREATED`, with `_DESC` for the other direction.'),
});
export type SeriesSearchQuery = z.infer<typeof SeriesSearchQuery>;
