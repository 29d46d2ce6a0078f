import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { mayAccess } from '#access/acl/acl.queries.ts';
import { anonymous } from '#access/principal.ts';
import type { EventRow } from '#catalogue/events/event-json.ts';
import { EVENT_LIST } from '#catalogue/events/event-list.ts';
import { findSeries } from '#catalogue/series/series-queries.ts';
import type { Database } from '#platform/database/kysely.ts';
import { allOf, findPart } from '#platform/database/list/index.ts';
import { matchesNone, strongEtag } from '#platform/http/answer/etag.ts';
import { NEWEST_VERSION } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { listingOf } from '#platform/http/list/index.ts';
import { publicationsOfEvents } from '#publications/publication.queries.ts';
import {
  DEFAULT_CHANNEL,
  elementUrl,
  type Publication,
  type PublicationElement,
  renditionsOfTracks,
  watchUrl,
} from '#publications/publication.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { type FeedItem, rss } from './rss.ts';

/** The latest recordings of a series; podcast clients keep earlier ones. */
const MOST_ITEMS = 100;
const CACHE_SECONDS = 300;
/** The shorter side of the preferred rendition, in pixels. */
const PREFERRED = 720;

const NO_FEED = refusal(404, (id: string) => `Cannot find a feed of the series '${id}'.`, ['algebra']);

interface Services {
  database: Database;
  addresses: PublicationAddresses;
}

/** The recordings of a series that everyone may watch, for podcast clients. Not in the reference, as other pages. */
export const seriesFeed = defineEndpoint({
  method: 'get',
  path: '/feeds/rss/2.0/series/{series_id}',
  access: 'public',
  handle: async ({ c, params }, { database, addresses }: Services) => {
    const id = params.series_id;
    // Where every address must be signed, nothing is for everyone.
    const isOpen = addresses.access !== 'signed' && !id.includes('\0');
    const series = isOpen ? await findSeries(database, id, anonymous) : undefined;
    if (!series) throw NO_FEED(id);
    const { publicUrl } = addresses;
    const text = rss({
      self: `${publicUrl}/feeds/rss/2.0/series/${encodeURIComponent(id)}`,
      link: publicUrl,
      title: series.title,
      description: series.description,
      organizers: series.organizers,
      items: await itemsOf(database, id, publicUrl),
    });
    const etag = strongEtag(createHash('sha256').update(text).digest('base64url').slice(0, 27));
    const headers = { ETag: etag, 'Cache-Control': `public, max-age=${CACHE_SECONDS}` };
    if (matchesNone(c.req.header('If-None-Match'), etag)) return c.body(null, 304, headers);
    return c.body(text, 200, { ...headers, 'Content-Type': 'application/rss+xml; charset=utf-8' });
  },
});

async function itemsOf(database: Database, seriesId: string, publicUrl: string): Promise<FeedItem[]> {
  const isPublished = sql`EXISTS (SELECT FROM publications
    WHERE publications.event_id = events.id AND channel = ${DEFAULT_CHANNEL})`;
  const access = allOf([mayAccess('events', anonymous, 'read'), isPublished]);
  const listing = listingOf(EVENT_LIST, { access, criteria: { is_part_of: seriesId } }, NEWEST_VERSION);
  const { entries } = await findPart(database, listing, { skip: 0, take: MOST_ITEMS });
  const events = entries.map(({ shown }) => shown);
  const publications = await publicationsOfEvents(
    database,
    events.map(({ id }) => id),
  );
  return events.flatMap((event) => {
    const published = publications.get(event.id)?.find(({ channel }) => channel === DEFAULT_CHANNEL);
    return published ? [itemOf(event, published, publicUrl)] : [];
  });
}

function itemOf(event: EventRow, publication: Publication, publicUrl: string): FeedItem {
  const file = preferredFile(publication);
  return {
    id: event.id,
    title: event.title,
    description: event.description,
    presenters: event.presenters,
    published: event.start_date,
    durationMs: event.duration ?? 0,
    link: watchUrl(publicUrl, publication.id),
    enclosure: file && { url: elementUrl(publicUrl, file), bytes: file.size, mediatype: file.mediatype },
  };
}

/** Returns the rendition of the first video that is nearest to the preferred size; without a video, the first sound. */
function preferredFile(publication: Publication): PublicationElement | undefined {
  const tracks = renditionsOfTracks(publication);
  const [video = []] = tracks.filter(([best]) => best?.has_video);
  const distance = ({ width, height }: PublicationElement) => Math.abs(Math.min(width ?? 0, height ?? 0) - PREFERRED);
  return video.toSorted((a, b) => distance(a) - distance(b))[0] ?? tracks[0]?.[0];
}
