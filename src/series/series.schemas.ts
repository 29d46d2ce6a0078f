import { z } from 'zod';
import { Acl } from '../access/acl.schemas.ts';
import { Instant, TextByName } from '../http/schemas.ts';

const fields = {
  identifier: z.string(),
  title: z.string(),
  description: z.string(),
  creator: z.string().describe('Name of the account that made the series.'),
  created: Instant,
  subjects: z.array(z.string()),
  contributors: z.array(z.string()),
  organizers: z.array(z.string()),
  publishers: z.array(z.string()),
  language: z.string(),
  license: z.string(),
  rightsholder: z.string(),
};
const acl = Acl.optional().describe('With `withacl`.');

/** A series in a list. */
export const SeriesList = z
  .array(z.object({ ...fields, acl }).meta({ id: 'SeriesListElement', 'x-part': 'seriesListFields' }))
  .meta({ id: 'SeriesList' });

/** A series by itself. */
export const Series = z
  .object({
    ...fields,
    organization: z.string().describe('Identifier of the organization it belongs to.'),
    opt_out: z.literal(false).describe('Without meaning.'),
    acl,
  })
  .meta({ id: 'Series', 'x-part': 'seriesFields' });

/** Properties of a series. */
export const SeriesProperties = TextByName.meta({ id: 'SeriesProperties' });

/** Properties as they were sent: values that are no text are kept as text, but answered as they came. */
export const PropertiesEcho = z.record(z.string(), z.unknown());

/** A list of access control entries as it was sent: the entries may hold more, and `allow` as a text. */
export const AclEcho = z.array(
  z.looseObject({
    allow: z.union([z.boolean(), z.enum(['true', 'false'])]),
    action: z.string(),
    role: z.string(),
  }),
);
