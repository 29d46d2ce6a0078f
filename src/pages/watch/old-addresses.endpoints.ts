import type { Context } from 'hono';
import { html } from 'hono/html';
import { mayAccess } from '#access/acl/acl.queries.ts';
import { anonymous } from '#access/principal.ts';
import { page, pagePolicy } from '#platform/http/answer/html-page.ts';
import { defineEndpoint, type Endpoint } from '#platform/http/endpoint/endpoint.ts';
import { DEFAULT_CHANNEL, INTERNAL_CHANNEL, watchUrl } from '#publications/publication.ts';
import { redirectToSignIn } from '../sign-in/sign-in-page.ts';
import { startTime, withStartTime } from './browser/start-time.js';
import { OLD_PLAYERS } from './old-players.ts';
import { isFramed, pageHeaders, type RecordingServices } from './open-recording.ts';
import { STYLE } from './watch-style.ts';

const POLICY = pagePolicy({ style: STYLE });
const redirect = redirectToSignIn();

/** The first folders of the addresses. */
export const OLD_FOLDERS = ['/play', ...new Set(OLD_PLAYERS.map((path) => path.slice(0, path.indexOf('/', 1))))];

/** Addresses of events in mails and courses, which lead to the watch page. */
export const oldAddresses: readonly Endpoint<RecordingServices>[] = [
  defineEndpoint({
    method: 'get',
    path: '/play/{event_id}',
    access: 'public',
    handle: ({ c, params }, services: RecordingServices) => openEvent(c, params.event_id, services),
  }),
  ...OLD_PLAYERS.map((path) =>
    defineEndpoint({
      method: 'get',
      path,
      access: 'public',
      handle: ({ c }, services: RecordingServices) => openEvent(c, c.req.query('id') ?? '', services),
    }),
  ),
];

/** Redirects to the watch page. Who may not read an event learns nothing about it. */
async function openEvent(c: Context, eventId: string, services: RecordingServices): Promise<Response> {
  const publicationId = eventId.includes('\0') ? undefined : await findReadable(c, eventId, services);
  if (publicationId !== undefined) {
    c.header('Cache-Control', 'private, no-store');
    const seconds = startTime(new URL(c.req.url)) ?? 0;
    return c.redirect(addressOf(publicationId, seconds, services), services.config.oldAddressStatus);
  }
  const framed = isFramed(c);
  const signIn = framed ? undefined : await redirect(c, async () => undefined);
  if (signIn) return signIn;
  const { pathname, search } = new URL(c.req.url);
  const newTab = html`<p><a href="${pathname}${search}" target="_blank" rel="noopener">Open the recording in a new tab</a></p>`;
  const content = html`<main>
<h1>Recording not found</h1>
<p>The link may be incomplete, or this account may not watch the recording.</p>
${framed && c.get('account') === undefined ? newTab : ''}
</main>`;
  return c.html(page('Recording not found', content, { style: STYLE }), 404, pageHeaders(POLICY));
}

async function findReadable(c: Context, eventId: string, { database, addresses }: RecordingServices) {
  let published = database
    .selectFrom('publications')
    .innerJoin('events', 'events.id', 'publications.event_id')
    .select('publications.id')
    .where('event_id', '=', eventId)
    .where('channel', '<>', INTERNAL_CHANNEL)
    .orderBy((order) => order('channel', '<>', DEFAULT_CHANNEL))
    .orderBy('channel')
    .limit(1);
  if (addresses.access !== 'link') {
    published = published.where(mayAccess('events', c.get('principal') ?? anonymous, 'read'));
  }
  return (await published.executeTakeFirst())?.id;
}

function addressOf(publicationId: string, seconds: number, { addresses }: RecordingServices): string {
  const { publicUrl, signer, access } = addresses;
  const url = watchUrl(publicUrl, publicationId);
  const isSigned = access === 'signed' && signer !== undefined;
  return withStartTime(new URL(isSigned ? signer.sign(url, { validUntil: signer.defaultEnd() }) : url), seconds);
}
