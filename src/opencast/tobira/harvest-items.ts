import { sql } from 'kysely';
import { z } from 'zod';
import { aclsOf, effectiveAclsOf } from '#access/acl/acl.queries.ts';
import type { AclEntry } from '#access/acl/acl.ts';
import { episodeValues } from '#catalogue/events/event-columns.ts';
import { playlistRows } from '#catalogue/playlists/playlist.queries.ts';
import type { ChangedResource } from '#changes/resource-times.ts';
import { valuesOf } from '#metadata/core-fields.ts';
import { dublinCoreTerms } from '#metadata/dublincore.ts';
import { EPISODE } from '#metadata/episode-fields.ts';
import { SERIES, SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { publicationsOfEvents } from '#publications/publication.queries.ts';
import {
  captionsOf,
  DEFAULT_CHANNEL,
  elementsOf,
  elementUrl,
  flavorOf,
  languageIn,
  PLAYLIST,
  type Publication,
  type PublicationElement,
} from '#publications/publication.ts';

const Milliseconds = z.int().describe('Milliseconds since 1970.');
const PortalAcl = z.record(z.string(), z.array(z.string())).describe('The roles that may perform each action.');
const Terms = z.record(z.string(), z.record(z.string(), z.array(z.string()))).describe('Values by namespace and term.');
const changed = { id: z.string(), updated: Milliseconds };

const EventItem = z
  .object({
    kind: z.literal('event'),
    ...changed,
    title: z.string(),
    partOf: z.string().nullable(),
    description: z.string().nullable(),
    created: Milliseconds,
    startTime: Milliseconds.nullable(),
    endTime: Milliseconds.nullable(),
    creators: z.array(z.string()),
    duration: z.int().describe('Milliseconds.'),
    thumbnail: z.url().nullable(),
    tracks: z.array(
      z.object({
        uri: z.url(),
        flavor: z.string(),
        mimetype: z.string().nullable(),
        resolution: z.array(z.int()).nullable(),
        isMaster: z.boolean().nullable(),
      }),
    ),
    captions: z.array(z.object({ uri: z.url(), lang: z.string().nullable() })),
    segments: z.array(z.object({ uri: z.url(), startTime: z.int() })),
    slideText: z.url().nullable(),
    acl: PortalAcl,
    isLive: z.boolean(),
    metadata: Terms,
  })
  .meta({ id: 'HarvestedEvent' });

const SeriesItem = z
  .object({
    kind: z.literal('series'),
    ...changed,
    title: z.string(),
    description: z.string().nullable(),
    created: Milliseconds,
    acl: PortalAcl,
    metadata: Terms,
  })
  .meta({ id: 'HarvestedSeries' });

const PlaylistItem = z
  .object({
    kind: z.literal('playlist'),
    ...changed,
    title: z.string(),
    description: z.string(),
    creator: z.string(),
    acl: PortalAcl,
    entries: z.array(z.object({ id: z.int(), type: z.literal('E'), contentId: z.string() })),
  })
  .meta({ id: 'HarvestedPlaylist' });

const DeletedItem = z
  .object({ kind: z.enum(['event-deleted', 'series-deleted', 'playlist-deleted']), ...changed })
  .meta({ id: 'HarvestedDeletion' });

/** An item of a harvest. */
export const HarvestItem = z.union([EventItem, SeriesItem, PlaylistItem, DeletedItem]);
export type HarvestItem = z.infer<typeof HarvestItem>;

type Content<Item extends HarvestItem> = Omit<Item, 'updated'>;
type EventContent = Content<z.infer<typeof EventItem>>;
type SeriesContent = Content<z.infer<typeof SeriesItem>>;
type PlaylistContent = Content<z.infer<typeof PlaylistItem>>;

/** Returns the present content of resources. Those that do not exist or are not published are deleted for a portal. */
export async function harvestItems(
  db: Queryable,
  resources: readonly ChangedResource[],
  publicUrl: string,
): Promise<HarvestItem[]> {
  const idsOf = (wanted: ChangedResource['kind']) =>
    resources.filter(({ kind }) => kind === wanted).map(({ id }) => id);
  const [event, series, playlist] = await Promise.all([
    publishedEvents(db, idsOf('event'), publicUrl),
    seriesItems(db, idsOf('series')),
    playlistItems(db, idsOf('playlist')),
  ]);
  const contents = { event, series, playlist };
  return resources.map(({ kind, id, time: updated }) => {
    const content = contents[kind].get(id);
    return content ? { ...content, updated } : { kind: `${kind}-deleted`, id, updated };
  });
}

async function publishedEvents(
  db: Queryable,
  ids: readonly string[],
  publicUrl: string,
): Promise<Map<string, EventContent>> {
  const [events, publications] = await Promise.all([
    db.selectFrom('events').selectAll().where('id', '=', sql<string>`ANY(${ids})`).execute(),
    publicationsOfEvents(db, ids),
  ]);
  const acls = await effectiveAclsOf(db, events);
  const items = events.flatMap((event): EventContent[] => {
    const publication = publications.get(event.id)?.find(({ channel }) => channel === DEFAULT_CHANNEL);
    if (!publication) return [];
    const files = filesOf(publication, publicUrl);
    const duration = Math.max(0, ...elementsOf(publication, 'media').map((media) => media.duration ?? 0));
    return [
      {
        kind: 'event',
        id: event.id,
        title: event.title,
        partOf: event.series_id,
        description: event.description || null,
        created: event.created.getTime(),
        startTime: event.start_date.getTime(),
        endTime: event.duration === null ? null : event.start_date.getTime() + event.duration,
        creators: event.presenters,
        duration: duration || (event.duration ?? 0),
        ...files,
        acl: rolesByAction(acls.get(event.id)?.entries ?? []),
        isLive: false,
        metadata: furtherTerms(EVENT_TERMS, dublinCoreTerms(EPISODE, episodeValues(event))),
      },
    ];
  });
  return new Map(items.map((item) => [item.id, item]));
}

function filesOf(publication: Publication, publicUrl: string) {
  const uriOf = (element: PublicationElement) => elementUrl(publicUrl, element);
  const pictures = elementsOf(publication, 'attachment');
  const picture =
    pictures.find((each) => flavorOf(each).subtype === 'player+preview') ??
    pictures.find((each) => flavorOf(each).subtype === 'search+preview');
  return {
    thumbnail: picture ? uriOf(picture) : null,
    tracks: elementsOf(publication, 'media').map((media) => ({
      uri: uriOf(media),
      flavor: media.flavor,
      mimetype: media.mediatype,
      resolution: media.width !== null && media.height !== null ? [media.width, media.height] : null,
      isMaster: media.mediatype === PLAYLIST ? true : null,
    })),
    captions: captionsOf(publication).map((captions) => ({
      uri: uriOf(captions),
      lang: languageIn(captions) ?? null,
    })),
    segments: [],
    slideText: null,
  };
}

async function seriesItems(db: Queryable, ids: readonly string[]): Promise<Map<string, SeriesContent>> {
  const series = await db.selectFrom('series').selectAll().where('id', '=', sql<string>`ANY(${ids})`).execute();
  const acls = await aclsOf(db, 'series', ids);
  const items = series.map((each): SeriesContent => {
    const values = valuesOf(SERIES_CORE_FIELDS, each);
    return {
      kind: 'series',
      id: each.id,
      title: each.title,
      description: each.description || null,
      created: each.created.getTime(),
      acl: rolesByAction(acls.get(each.id) ?? []),
      metadata: furtherTerms(SERIES_TERMS, dublinCoreTerms(SERIES, values)),
    };
  });
  return new Map(items.map((item) => [item.id, item]));
}

async function playlistItems(db: Queryable, ids: readonly string[]): Promise<Map<string, PlaylistContent>> {
  const playlists = await playlistRows(db).where('playlists.id', '=', sql<string>`ANY(${ids})`).execute();
  const items = playlists.map(({ id, title, description, creator, entries, accessControlEntries }): PlaylistContent => {
    const items = entries.map((entry) => ({ id: entry.id, type: 'E' as const, contentId: entry.contentId }));
    return {
      kind: 'playlist',
      id,
      title,
      description,
      creator,
      acl: rolesByAction(accessControlEntries),
      entries: items,
    };
  });
  return new Map(items.map((item) => [item.id, item]));
}

function rolesByAction(entries: readonly Pick<AclEntry, 'allow' | 'action' | 'role'>[]): Record<string, string[]> {
  const roles = new Map<string, Set<string>>([
    ['read', new Set()],
    ['write', new Set()],
  ]);
  for (const { allow, action, role } of entries) {
    if (allow) roles.set(action, (roles.get(action) ?? new Set()).add(role));
  }
  return Object.fromEntries([...roles].map(([action, all]) => [action, [...all]]));
}

/** Terms whose values are properties of an item. */
const SERIES_TERMS = ['created', 'title', 'description', 'identifier'];
const EVENT_TERMS = [...SERIES_TERMS, 'creator', 'extent', 'isPartOf'];

function furtherTerms(own: readonly string[], terms: Map<string, string[]>): z.infer<typeof Terms> {
  return { dcterms: Object.fromEntries([...terms].filter(([name]) => !own.includes(name))) };
}
