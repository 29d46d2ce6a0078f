import { type HostileRequest, type Starts, whole } from './request.ts';

/** Where it is to go. */
export function targets({ head }: Starts): HostileRequest[] {
  return [
    ...['x/admin/queues?', 'a@b', 'a b', '', 'a,b'].map((host) =>
      whole(`the host '${host}'`, `GET /health/live HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, {
        harmless: host === '',
      }),
    ),
    whole('two hosts', 'GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'),
    whole('no host', 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n'),
    ...['*', 'api/info/me', '?', 'ftp://inlet/', 'http://a@b:x/', '/..', '/%2e%2e/', '/\\', '//inlet/../'].map(
      (target) => whole(`the target ${target}`, `GET ${target} HTTP/1.1\r\n${head}\r\n`),
    ),
  ];
}
