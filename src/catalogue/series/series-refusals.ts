import { refusal } from '#platform/http/errors/errors.ts';
import { SERIES_ID } from './series-examples.ts';

export const SERIES_MISSING = refusal(404, (id: string) => `Cannot find a series with id '${id}'.`, [SERIES_ID]);
/** The sentence of GET, with its known spelling. */
export const AN_SERIES_MISSING = refusal(404, (id: string) => `Cannot find an series with id '${id}'.`, [SERIES_ID]);
/** The sentence of updates. */
export const GONE = refusal(404, 'The resource you requested does not exist.');
export const IDENTIFIER_TAKEN = refusal(409, (id: string) => `A series with the identifier '${id}' already exists.`, [
  SERIES_ID,
]);
export const METADATA_MISSING = refusal(400, "Required parameter 'metadata' is missing or invalid");
export const TYPE_MISSING = refusal(
  400,
  (id: string, purpose: 'update' | 'delete') =>
    `A type of catalog needs to be specified for series '${id}' to ${purpose} it.`,
  [SERIES_ID, 'update'],
);
export const NO_FLAVOR = refusal(
  400,
  (type: string, common: string) => `Unable to parse flavor '${type}' it should look something like ${common}.`,
  ['text', 'dublincore/series'],
);
/** Also for properties: compatible clients know the sentence with the wrong parameter. */
export const ACL_MISSING = refusal(400, "Missing form parameter 'acl'");
export const ACL_UNPARSABLE = refusal(400, 'Could not parse ACL');
export const PROPERTIES_UNPARSABLE = refusal(400, 'Could not parse series properties');
export const TOO_MANY_PROPERTIES = refusal(
  400,
  (most: number) => `A series can have up to ${most} properties.`,
  [1000],
);
export const PROPERTIES_TOO_LONG = refusal(
  400,
  (bytes: number) => `The properties of a series can have up to ${bytes} bytes together.`,
  [2 ** 20],
);
export const UNPARSABLE_START = refusal(400, 'Unable to parse createdFrom parameter.');
export const UNPARSABLE_END = refusal(400, 'Unable to parse createdTo parameter.');
export const NO_THEME = refusal(400, (text: string) => `Unable to parse the theme id '${text}' into a number`, [
  'blue',
]);
