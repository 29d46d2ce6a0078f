import { createServer, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { listen } from './listen.ts';

type Json = Record<string, unknown>;

/** A server with the External API that answers whatever a test gives it. */
export interface HostileSource {
  url: string;
  /** In the order of their start; a text is sent as it is. */
  events: (Json | string)[];
  series: Json[];
  playlists: Json[];
  groups: Json[];
  /** By the identifier of the event. */
  tracks: Map<string, Json[]>;
  /** By path. A function answers itself. */
  files: Map<string, Buffer | ((response: ServerResponse) => void)>;
}

export async function hostileSource(): Promise<HostileSource> {
  const source: HostileSource = {
    url: '',
    events: [],
    series: [],
    playlists: [],
    groups: [],
    tracks: new Map(),
    files: new Map(),
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://host');
    const file = source.files.get(url.pathname);
    if (typeof file === 'function') return file(response);
    if (file) return void response.end(file);
    const body = answer(source, url);
    response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    response.end(body ?? 'There is no such thing.');
  });
  source.url = await listen(server);
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return source;
}

const textOf = (item: Json | string) => (typeof item === 'string' ? item : JSON.stringify(item));
const listOf = (items: (Json | string)[]) => `[${items.map(textOf).join(',')}]`;
const timeOf = (item: Json | string) => (typeof item === 'string' ? 0 : Date.parse(String(item.start ?? item.created)));

function answer(source: HostileSource, { pathname, searchParams }: URL): string | undefined {
  const [, , kind, id = '', part] = pathname.split('/').map(decodeURIComponent);
  if (kind === 'version') return JSON.stringify({ versions: ['v1.11.0'], default: 'v1.11.0' });
  const { events, series, playlists, groups } = source;
  const all = new Map<string | undefined, (Json | string)[]>(Object.entries({ events, series, playlists, groups })).get(
    kind,
  );
  if (!all) return undefined;
  if (id !== '') {
    if (part === 'media') return listOf(source.tracks.get(id) ?? []);
    const item = all.find((each) => typeof each !== 'string' && (each.identifier ?? each.id) === id) as
      | Json
      | undefined;
    if (!item) return undefined;
    return JSON.stringify(part === undefined ? item : (item[part] ?? (part === 'properties' ? {} : [])));
  }
  const [, from] = /(?:start|CreationDate):([^/]+)\//.exec(searchParams.get('filter') ?? '') ?? [];
  // No filter by time finds what is outside of its years.
  const found = from
    ? all.filter((item) => timeOf(item) >= Date.parse(from) && timeOf(item) < Date.UTC(9999, 11, 31))
    : all;
  const offset = Number(searchParams.get('offset') ?? 0);
  return listOf(found.slice(offset, offset + Number(searchParams.get('limit') ?? 100)));
}
