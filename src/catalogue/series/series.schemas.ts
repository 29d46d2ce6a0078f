import { z } from 'zod';
import { Acl } from '#access/acl/acl.schemas.ts';
import { inOrder, shapeOf, sinceOf } from '#metadata/core-json.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series.ts';
import type { Since } from '#platform/http/answer/version.ts';
import { flag, TextFlag } from '#platform/http/endpoint/query.schemas.ts';
import { Instant } from '#platform/http/endpoint/schemas.ts';
import { FIRST_SHOWN } from './examples.ts';
import { NO_THEME } from './refusals.ts';

/** Which version brought which field of a series (compatibility 2.4). */
export const SERIES_FIELDS: Since = { ...sinceOf(SERIES_CORE_FIELDS), acl: '1.5.0' };
/** The same of a series in a list. */
export const SERIES_LIST_FIELDS: Since = { description: '1.1.0', ...SERIES_FIELDS };
/** Which version brought which parameter. */
export const SERIES_PARAMETERS = { override: '1.2.0', withacl: '1.5.0' } as const satisfies Since;

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

const fields = inOrder(FIRST_SHOWN, {
  identifier: z.string(),
  ...shapeOf(SERIES_CORE_FIELDS),
  creator: z.string().describe('Name of the account that made the series.'),
  created: Instant,
});
const acl = Acl.optional().describe('With `withacl`.');

const SeriesListElement = z
  .object({ ...fields, acl })
  .meta({ id: 'SeriesListElement', 'x-introduced': SERIES_LIST_FIELDS });
export type SeriesListElement = z.infer<typeof SeriesListElement>;

/** A page of series. */
export const SeriesList = z.array(SeriesListElement).meta({ id: 'SeriesList' });

/** A series by itself. */
export const Series = z
  .object({
    ...fields,
    organization: z.string().describe('Identifier of the organization it belongs to.'),
    opt_out: z.literal(false).describe('Without meaning.'),
    acl,
  })
  .meta({ id: 'Series', 'x-introduced': SERIES_FIELDS });
export type SeriesJson = z.infer<typeof Series>;

/** The form field `theme` of a new series. */
export const Theme = z
  .string()
  .trim()
  .regex(/^(-?\d{1,18})?$/, {
    error: ({ input }) => NO_THEME.sentence(String(input).slice(0, 200)),
  })
  .transform((digits) => (digits === '' ? undefined : String(BigInt(digits))))
  .meta({ description: 'The number of a theme; becomes a property of the series.' });

/** The form field `override` of the access control list of a series. */
export const Override = TextFlag.meta({
  description:
    '`true` removes the lists of those of its events that the account may change, so that this one holds for them, too.',
  'x-since': SERIES_PARAMETERS.override,
});

/** A list of access control entries as it was sent: the entries may hold more, and `allow` as a text. */
export const AclEcho = z.array(
  z.looseObject({
    allow: z.union([z.boolean(), z.enum(['true', 'false'])]),
    action: z.string(),
    role: z.string(),
  }),
);
