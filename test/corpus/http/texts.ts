import { type HostileRequest, type Starts, URLENCODED, whole, withBody } from './request.ts';

/** Texts that are small, and not what is made of them. */
export function texts({ series }: Starts): HostileRequest[] {
  return [
    ...['[', '{"a":'].map((deep) =>
      whole(
        `JSON of 100,000 times ${deep}`,
        withBody(`${series}${URLENCODED}`, `acl=[]&metadata=${encodeURIComponent(deep.repeat(100_000))}`),
      ),
    ),
    whole(
      'JSON with a number of 900,000 digits',
      withBody(`${series}${URLENCODED}`, `acl=[]&metadata=[${'9'.repeat(900_000)}]`),
    ),
    whole('100,000 fields', withBody(`${series}${URLENCODED}`, 'a=b&'.repeat(100_000))),
    whole('escapes that are none', withBody(`${series}${URLENCODED}`, `metadata=${'%'.repeat(900_000)}`)),
  ];
}
