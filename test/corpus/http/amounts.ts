import { CHUNKED, chunk, endless, type HostileRequest, MIB, type Starts, URLENCODED, whole } from './request.ts';

/** Too much of it. */
export function amounts({ head, get, upload, series }: Starts): HostileRequest[] {
  return [
    whole('an address of 1 MB', `GET /${'x'.repeat(MIB)} HTTP/1.1\r\n${head}\r\n`),
    whole('a header of 1 MB', `${get}X-A: ${'x'.repeat(MIB)}\r\n\r\n`),
    whole('100,000 headers', `${get}${'X-A: b\r\n'.repeat(100_000)}\r\n`),
    { name: 'headers without end', pieces: () => endless(get, `X-A: ${'x'.repeat(1000)}\r\n`, 64 * MIB) },
    {
      name: 'chunks of one byte',
      pieces: () => endless(`${upload}${CHUNKED}\r\n`, chunk('x').repeat(1000), 6 * 200_000),
    },
    {
      name: 'chunks of one byte in a form of texts',
      pieces: () => endless(`${series}${URLENCODED}${CHUNKED}\r\n`, chunk('x').repeat(1000), 6 * 200_000),
    },
    {
      name: 'chunks of one byte that nobody asked for',
      pieces: () =>
        endless(`POST /api/nothing HTTP/1.1\r\n${head}${CHUNKED}\r\n`, chunk('x').repeat(1000), 6 * 200_000),
    },
    {
      name: 'a chunk whose extension does not end',
      pieces: () => endless(`${upload}${CHUNKED}\r\n1;`, 'x'.repeat(10_000), 16 * MIB),
    },
    {
      name: 'a text of 40 MiB',
      pieces: () =>
        endless(
          `${upload}Content-Length: ${40 * MIB}\r\n\r\n--b\r\nContent-Disposition: form-data; name="acl"\r\n\r\n`,
          'x'.repeat(MIB / 4),
          40 * MIB,
        ),
    },
    {
      name: 'a form of texts of 40 MiB',
      pieces: () =>
        endless(`${series}${URLENCODED}Content-Length: ${40 * MIB}\r\n\r\nacl=`, 'x'.repeat(MIB / 4), 40 * MIB),
    },
    {
      name: 'a form of texts without end',
      pieces: () => endless(`${series}${URLENCODED}${CHUNKED}\r\n`, chunk('a=b&'.repeat(16_384)), 40 * MIB),
    },
  ];
}
