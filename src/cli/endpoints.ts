import { isAbsolute } from 'node:path';
import pg from 'pg';
import type { Config } from '#platform/config/config.ts';
import { type Endpoints, hostAndPort } from '#platform/outbound/endpoints.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';

const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** Where a PostgreSQL client connects to, by the URL and the PG* variables. */
export function databaseEndpoints(databaseUrl: string): Endpoints {
  const { host, port } = new pg.Client({ connectionString: databaseUrl, ssl: false });
  const given = new URL(databaseUrl).searchParams;
  const files = TLS_FILES.flatMap((name) => given.get(name) ?? []);
  if (host.startsWith('/')) return { hosts: [], sockets: [`${host}/.s.PGSQL.${port}`], files };
  return { hosts: [hostAndPort(host, port)], sockets: [], files };
}

/** Where a Redis client connects to. */
export function redisEndpoints(redisUrl: string): Endpoints {
  const { hostname, port } = new URL(redisUrl);
  return { hosts: [hostAndPort(hostname || 'localhost', port || 6379)], sockets: [], files: [] };
}

/** Where the identity provider's keys come from: a URL or a file. */
export function keySetEndpoints(keySet: string): Endpoints {
  if (isAbsolute(keySet)) return { hosts: [], sockets: [], files: [keySet] };
  const { hostname, port, protocol } = new URL(keySet);
  return {
    hosts: [hostAndPort(hostname, port || (protocol === 'http:' ? 80 : 443))],
    sockets: [],
    files: [],
  };
}

const TRACE_FILES = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'];

/** Where traces are sent to. */
export function tracesEndpoints({ origin }: { origin: string }, environment: NodeJS.ProcessEnv): Endpoints {
  const { hostname, port, protocol } = new URL(origin);
  const files = ['OTEL_EXPORTER_OTLP_', 'OTEL_EXPORTER_OTLP_TRACES_'].flatMap((start) =>
    TRACE_FILES.flatMap((name) => environment[start + name] || []),
  );
  return { hosts: [hostAndPort(hostname, port || (protocol === 'http:' ? 80 : 443))], sockets: [], files };
}

/** Where files may be fetched from: a host without a port stands for the usual ports. */
export function urlHostEndpoints(hosts: readonly NamedHost[]): Endpoints {
  const ports = (port: number | undefined) => (port === undefined ? [80, 443] : [port]);
  return {
    hosts: hosts.flatMap(({ host, port }) => ports(port).map((one) => hostAndPort(host, one))),
    sockets: [],
    files: [],
  };
}

/** Where the server listens. */
export const listenEndpoint = ({ host, port }: Pick<Config, 'host' | 'port'>) => hostAndPort(host, port);
