import type { Since } from '../http/version.ts';

const LATER = { language: '1.1.0', license: '1.1.0', rightsholder: '1.1.0', acl: '1.5.0' } as const;

/** Which version brought which field of a series (compatibility 2.4). */
export const SERIES_FIELDS = LATER satisfies Since;
/** The same of a series in a list. */
export const SERIES_LIST_FIELDS = { description: '1.1.0', ...LATER } as const satisfies Since;
/** Which version brought which parameter. */
export const SERIES_PARAMETERS = { override: '1.2.0', withacl: '1.5.0' } as const satisfies Since;
