import { z } from 'zod';
import { Acl } from '#access/acl/acl.schemas.ts';
import { inOrder, shapeOf } from '#metadata/core-json.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series.ts';
import { TextFlag } from '#platform/http/endpoint/query.schemas.ts';
import { Instant } from '#platform/http/endpoint/schemas.ts';
import { FIRST_SHOWN } from './examples.ts';
import { NO_THEME } from './refusals.ts';
import { SERIES_FIELDS, SERIES_LIST_FIELDS, SERIES_PARAMETERS } from './versions.ts';

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
