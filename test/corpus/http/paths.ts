import { type HostileRequest, type Starts, whole } from './request.ts';

/** Addresses that are to come out somewhere else than where they go in. */
const PATHS = [
  '/api/events/../../etc/passwd',
  '/api/events/%2e%2e/%2e%2e/etc/passwd',
  '/api/events/%252e%252e%252fetc%252fpasswd',
  '/api/events/..%2f..%2fetc%2fpasswd',
  '/api/events/..%5c..%5cwindows',
  '/api/events/%00',
  '/api/events/a%00.json',
  '/api/events/%c0%ae%c0%ae/',
  '/api/events/%ff%fe',
  '/api/events/%zz',
  '/api/events/%',
  '/api/events/\xff\xfe',
  '/api/events/%ed%a0%80',
  '//api/events/x',
  '/api//events//x',
  '/api/./events/./x',
  '/API/EVENTS/x',
  '/api/events/x;a=b',
  '/api/events/x/%2f',
  `/api/events/${'a/'.repeat(2_000)}`,
  `/api/events/${'%41'.repeat(2_000)}`,
  '/studio/%2e%2e/%2e%2e/etc/passwd',
  '/studio/..%2f..%2fetc/passwd',
  '/uploads/..%2f..%2fetc%2fpasswd',
  '/uploads/%00',
  '/files/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '/direct-uploads/%00',
] as const;

/** Queries that no parser should take at their word. */
const QUERIES = [
  'limit=-1',
  'limit=1e309',
  `limit=${'9'.repeat(400)}`,
  'offset=9223372036854775808',
  'sort=date:UP',
  'sort=%00',
  'filter=%00:%00',
  'filter=textFilter:%ff',
  `filter=${'title:a,'.repeat(2_000)}`,
  'filter[a][b]=c',
  'a=%',
  `filter=textFilter:${'%25'.repeat(3_000)}`,
] as const;

export function paths({ head }: Starts): HostileRequest[] {
  const get = (target: string) => `GET ${target} HTTP/1.1\r\n${head}\r\n`;
  return [
    ...PATHS.map((path) => whole(`the path ${path.slice(0, 60)}`, get(path))),
    ...QUERIES.map((query) =>
      whole(`the query ${query.slice(0, 40)}`, get(`/api/events?${query}`), { harmless: true }),
    ),
  ];
}
