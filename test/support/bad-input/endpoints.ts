import { randomUUID } from 'node:crypto';
import { REFERENCE } from '#app/routes.ts';
import type { Description } from '#platform/http/endpoint/endpoint.ts';
import type { TestApp } from '../app.ts';
import { insertPublication } from '../publication.ts';
import { insertScheduled } from '../scheduled-event.ts';
import { createPlaylist, createSeries } from '../series.ts';

/** What the paths of endpoints can name. */
export type Names = Readonly<Record<string, string>>;

/** An event that is to be recorded and has a publication, and a series, for requests that shall get as far as they can. */
export async function prepare(app: TestApp): Promise<Names> {
  const event_id = await insertScheduled(app.database, {
    agent_id: 'room 7',
    start: '2030-01-07T09:00:00Z',
    end: '2030-01-07T10:00:00Z',
  });
  return {
    event_id,
    series_id: await createSeries(app),
    playlist_id: await createPlaylist(app),
    publication_id: await insertPublication(app.database, event_id),
    track_id: randomUUID(),
    agent_id: 'room-1',
    workflow_id: '1',
    action: 'read',
    role: 'ROLE_X',
    name: 'LANGUAGES',
  };
}

/** The path of an endpoint with names in it. */
export function pathOf({ path }: Description, names: Names): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? 'x');
}

const ENDPOINTS: readonly Description[] = REFERENCE.flatMap(({ endpoints }) => endpoints);

/** Every endpoint, under the name of its test. */
export const ALL = ENDPOINTS.map((endpoint) => [nameOf(endpoint), endpoint] as const);
/** Those that take a form. */
export const WITH_FORM = ENDPOINTS.flatMap((endpoint) => {
  const { form } = endpoint;
  return form && Object.keys(form.example).length > 0 ? [[nameOf(endpoint), endpoint, form] as const] : [];
});
/** Those that take JSON instead. */
export const WITH_JSON = ENDPOINTS.flatMap((endpoint) => {
  const { example, bodies } = endpoint.form ?? { example: {} };
  const json = Object.keys(example).length === 0 ? bodies?.['application/json'] : undefined;
  return json ? [[nameOf(endpoint), endpoint, JSON.stringify(json.example)] as const] : [];
});

function nameOf({ method, path }: Description): string {
  return `${method.toUpperCase()} ${path}`;
}
