import { isAbsolute } from 'node:path';
import pg from 'pg';
import type { Config } from '#platform/config/config.ts';
import { type Endpoints, hostAndPort } from '#platform/outbound/endpoints.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';

const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** Returns the endpoints of a PostgreSQL client, from the URL and the PG* variables. */
export function databaseEndpoints(databaseUrl: string): Endpoints {
  const { host, port } = new pg.Client({ connectionString: databaseUrl, ssl: false });
  const given = new URL(databaseUrl).searchParams;
  const files = TLS_FILES.flatMap((name) => given.get(name) ?? []);
  if (host.startsWith('/')) return { hosts: [], sockets: [`${host}/.s.PGSQL.${port}`], files };
  return { hosts: [hostAndPort(host, port)], sockets: [], files };
}

export function redisEndpoints(redisUrl: string): Endpoints {
  const { hostname, port } = new URL(redisUrl);
  return { hosts: [hostAndPort(hostname || 'localhost', port || 6379)], sockets: [], files: [] };
}

/** Returns the endpoints of the identity provider's keys: a URL or a file. */
export function keySetEndpoints(keySet: string): Endpoints {
  if (isAbsolute(keySet)) return { hosts: [], sockets: [], files: [keySet] };
  return { hosts: [urlHost(keySet)], sockets: [], files: [] };
}

/** Returns the endpoints of learning platforms: the file of their settings, and the hosts of their keys. */
export function launchEndpoints(path: string, { platforms }: { platforms: readonly { keys: string }[] }): Endpoints {
  return { hosts: platforms.map(({ keys }) => urlHost(keys)), sockets: [], files: [path] };
}

function urlHost(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return hostAndPort(hostname, port || (protocol === 'http:' ? 80 : 443));
}

const TRACE_FILES = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'];

export function tracesEndpoints({ origin }: { origin: string }, environment: NodeJS.ProcessEnv): Endpoints {
  const files = ['OTEL_EXPORTER_OTLP_', 'OTEL_EXPORTER_OTLP_TRACES_'].flatMap((start) =>
    TRACE_FILES.flatMap((name) => environment[start + name] || []),
  );
  return { hosts: [urlHost(origin)], sockets: [], files };
}

/** Returns the hosts from which files may be fetched. A host without a port stands for ports 80 and 443. */
export function urlHostEndpoints(hosts: readonly NamedHost[]): Endpoints {
  const allowed = hosts.flatMap(({ host, port }) =>
    (port === undefined ? [80, 443] : [port]).map((one) => hostAndPort(host, one)),
  );
  return { hosts: allowed, sockets: [], files: [] };
}

export const listenEndpoint = ({ host, port }: Pick<Config, 'host' | 'port'>) => hostAndPort(host, port);
