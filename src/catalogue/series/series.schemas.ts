import { z } from 'zod';
import { Acl } from '#access/acl/acl.ts';
import { inOrder, shapeOf, sinceOf } from '#metadata/core-fields.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';
import type { Since } from '#platform/http/answer/version.ts';
import { flag, Instant, TextFlag } from '#platform/http/endpoint/endpoint-schemas.ts';
import { FIRST_SHOWN } from './series-examples.ts';
import { NO_THEME } from './series-refusals.ts';

/** The API version that introduced each field of a series (compatibility 2.4). */
export const SERIES_FIELDS: Since = { ...sinceOf(SERIES_CORE_FIELDS), acl: '1.5.0' };
export const SERIES_LIST_FIELDS: Since = { description: '1.1.0', ...SERIES_FIELDS };
export const SERIES_PARAMETERS = { override: '1.2.0', withacl: '1.5.0' } as const satisfies Since;

export const SeriesQuery = z.object({
  withacl: flag('Include the access control list.').meta({ 'x-since': SERIES_PARAMETERS.withacl }),
});

/** The flags of the list of series. */
export const SeriesListQuery = z.object({
  onlyWithWriteAccess: flag('Only series that the account may change.'),
  ...SeriesQuery.shape,
});

const fields = inOrder(FIRST_SHOWN, {
  identifier: z.string(),
  ...shapeOf(SERIES_CORE_FIELDS),
  creator: z.string().describe('Name of the account that created the series.'),
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
    organization: z.string().describe('Identifier of the organization.'),
    opt_out: z.literal(false).describe('Always false.'),
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
  .meta({ description: 'Number of a theme. It is stored as the property `theme` of the series.' });

/** The form field `override` of the access control list of a series. */
export const Override = TextFlag.meta({
  description:
    '`true` also removes the lists of its events that the account may change, so that they use the list of the series.',
  'x-since': SERIES_PARAMETERS.override,
});

/** The sent list of access control entries. Entries may have more properties, and `allow` may be a text. */
export const AclEcho = z.array(
  z.looseObject({
    allow: z.union([z.boolean(), z.enum(['true', 'false'])]),
    action: z.string(),
    role: z.string(),
  }),
);
