import { CHUNKED, chunk, endless, type HostileRequest, MIB, type Starts, whole, withBody } from './request.ts';

/** Forms that are none. */
export function forms({ head, upload }: Starts): HostileRequest[] {
  return [
    whole(
      'a form without a boundary',
      withBody(`POST /api/events HTTP/1.1\r\n${head}Content-Type: multipart/form-data\r\n`, '--b--'),
    ),
    whole(
      'a boundary of 10,000 characters',
      withBody(
        `POST /api/events HTTP/1.1\r\n${head}Content-Type: multipart/form-data; boundary=${'b'.repeat(10_000)}\r\n`,
        '--b--',
      ),
    ),
    whole('a form of nothing', withBody(upload, '--b--\r\n')),
    whole('a form that ends in its boundary', withBody(upload, '--b')),
    {
      name: 'a form that never begins',
      pieces: () => endless(`${upload}Content-Length: ${40 * MIB}\r\n\r\n`, '\r\n--'.repeat(16_384), 40 * MIB),
    },
    {
      name: 'a form that is nearly its boundary',
      pieces: () =>
        endless(
          `${upload}Content-Length: ${40 * MIB}\r\n\r\n--b\r\nContent-Disposition: form-data; name="acl"\r\n\r\n`,
          '\r\n--bb'.repeat(16_384),
          40 * MIB,
        ),
    },
    {
      name: '100,000 parts',
      pieces: () =>
        endless(
          `${upload}Content-Length: ${40 * MIB}\r\n\r\n`,
          '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(100),
          5 * MIB,
        ),
    },
    {
      name: '100,000 files of nothing',
      pieces: () =>
        endless(
          `${upload}${CHUNKED}\r\n`,
          chunk('--b\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n\r\n'.repeat(100)),
          6 * MIB,
        ),
    },
    {
      name: 'a part with a head of 1 MB',
      pieces: () => endless(`${upload}Content-Length: ${40 * MIB}\r\n\r\n--b\r\nX-A: `, 'x'.repeat(10_000), MIB),
    },
    {
      name: 'a part with 100,000 headers',
      pieces: () => endless(`${upload}Content-Length: ${40 * MIB}\r\n\r\n--b\r\n`, 'X-A: b\r\n'.repeat(1000), MIB),
    },
    whole('a part without a head', withBody(upload, '--b\r\n\r\n[]\r\n--b--\r\n')),
    whole(
      'a form in a form',
      withBody(
        upload,
        '--b\r\nContent-Disposition: form-data; name="presenter"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n--b--\r\n',
      ),
    ),
    whole(
      'a name of escapes without end',
      withBody(upload, `--b\r\nContent-Disposition: form-data; name="${'\\"'.repeat(7000)}\r\n\r\n\r\n--b--\r\n`),
    ),
    whole(
      'a form that is XML',
      withBody(`POST /api/events HTTP/1.1\r\n${head}Content-Type: application/xml\r\n`, '<a/>'),
    ),
    whole('a body that stops', `${upload}Content-Length: 1000\r\n\r\n--b\r\n`),
  ];
}
