import { sinceOf } from '#metadata/core-json.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series.ts';
import type { Since } from '#platform/http/answer/version.ts';

/** Which version brought which field of a series (compatibility 2.4). */
export const SERIES_FIELDS: Since = { ...sinceOf(SERIES_CORE_FIELDS), acl: '1.5.0' };
/** The same of a series in a list. */
export const SERIES_LIST_FIELDS: Since = { description: '1.1.0', ...SERIES_FIELDS };
/** Which version brought which parameter. */
export const SERIES_PARAMETERS = { override: '1.2.0', withacl: '1.5.0' } as const satisfies Since;
