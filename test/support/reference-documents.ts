import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  ACL,
  type CatalogueOptions,
  type EventChange,
  eventCatalogs,
  eventFields,
  eventId,
  playerFiles,
  type ReferenceFile,
  sourceTracks,
  utc,
} from './reference-catalogue.ts';
import { MEDIATYPES, type referenceFiles } from './reference-files.ts';

export const FILES = '/static/mh_default_org/engage-player/';
export const ASSETS = '/assets/assets/';

const LECTURE_MS = 600_000;

/** Versions of the API by their second number. */
export const minor = (version: string) => Number(version.split('.')[1]);

/** The server, as its documents name it. */
interface Site {
  url: string;
  options: CatalogueOptions & { signedForMs: number };
}

/** The JSON of events, as the reference server writes it in each version. */
export class ReferenceDocuments {
  readonly #site: Site;
  readonly #files: Awaited<ReturnType<typeof referenceFiles>>;

  constructor(site: Site, files: Awaited<ReturnType<typeof referenceFiles>>) {
    this.#site = site;
    this.#files = files;
  }

  /** Returns an event in a version, with the parts that the parameters name. */
  eventJson(number: number, query: URLSearchParams, version: string, changes: EventChange = {}): unknown {
    const { kind, start, common, since11 } = eventFields(number, this.#site.options);
    const has = (name: string) => query.get(name) === 'true';
    const isOld = minor(version) < 4;
    const publications = () => this.#publications(number, has('sign'), version, has('includeInternalPublication'));
    const scheduled = kind === 'scheduled';
    const end = start && utc(Date.parse(start) + LECTURE_MS);
    const inputs = { agent_id: common.location, start: start.replace('Z', '.500Z'), end, inputs: ['camera'] };
    return {
      ...common,
      ...(minor(version) >= 1 && since11),
      // The technical start of an upload is not known.
      start: isOld && !scheduled ? '' : start,
      ...(!isOld && { duration: scheduled ? null : 2000 }),
      publication_status: this.#publications(number, false, version, true).map(({ channel }) => channel),
      ...(has('withacl') && { acl: ACL }),
      ...(has('withmetadata') && { metadata: eventCatalogs(number, this.#site.options) }),
      ...(has('withscheduling') && minor(version) >= 1 && { scheduling: scheduled ? inputs : {} }),
      ...(has('withpublications') && { publications: publications() }),
      ...(this.#site.options.faultOf(number) === 'unreadable' && { title: { de: 'Vorlesung' } }),
      ...changes,
    };
  }

  #publications(number: number, sign: boolean, version: string, withInternal: boolean) {
    const { kind } = eventFields(number, this.#site.options);
    const id = eventId(number);
    if (kind === 'scheduled' || kind === 'failed') return [];
    const publication = (channel: string, url: string, parts = {}) => ({
      ...{ id: `${channel}-${number}`, channel, mediatype: 'text/html', url },
      ...{ media: [], attachments: [], metadata: [], ...parts },
    });
    if (kind === 'youtube') return [publication('youtube', `https://www.youtube.com/watch?v=${number}`)];
    const parts = playerFiles(kind);
    const elements = (files: ReferenceFile[]) => files.map((file) => this.#element(number, file, sign, version));
    const player = publication('engage-player', `${this.#site.url}/play/${id}`, {
      ...{ media: elements(parts.media), attachments: elements(parts.attachments) },
      // The size of catalogs is not known.
      metadata: elements(parts.metadata).map((element) => ({ ...element, size: -1 })),
    });
    if (kind === 'live') {
      const media = elements(parts.media).map((element) => ({ ...element, is_live: true, checksum: '', size: 0 }));
      return [publication('engage-live', `${this.#site.url}/play/${id}`, { media })];
    }
    const internal = publication('internal', '', { attachments: elements(parts.attachments) });
    return withInternal && minor(version) >= 11 ? [internal, player] : [player];
  }

  #element(number: number, file: ReferenceFile, sign: boolean, version: string) {
    const path = `${FILES}${eventId(number)}/${file.id}/${encodeURIComponent(file.name)}`;
    const url = this.#address(path, sign);
    const isVideo = file.kind === 'mp4' || file.kind === 'ts' || file.kind === 'm3u8';
    const facts = this.#facts(number, file, decodeURIComponent(path));
    return {
      ...{ id: file.id, mediatype: MEDIATYPES[file.kind], url, flavor: file.flavor, tags: file.tags, ...facts },
      ...(file.ref && { ref: file.ref }),
      ...(isVideo && { has_audio: true, has_video: true, duration: 2000, description: '' }),
      ...(isVideo && { bitrate: 98_000.5, framerate: 10, framecount: 20, width: 160, height: 120 }),
      ...(isVideo && minor(version) >= 7 && { is_master_playlist: file.isMaster ?? false, is_live: false }),
    };
  }

  #track(number: number, file: ReferenceFile) {
    const path = `${ASSETS}${eventId(number)}/${file.id}/0/${encodeURIComponent(file.name)}`;
    const streams = {
      'video-1': { identifier: 'video-1', framewidth: 160, frameheight: 120, framerate: 10 },
      'audio-1': { identifier: 'audio-1', channels: 1, samplingrate: 22_050 },
    };
    return {
      ...{ identifier: file.id, flavor: file.flavor, mimetype: MEDIATYPES[file.kind], tags: file.tags },
      ...{ uri: this.#address(path, false), ...this.#facts(number, file, decodeURIComponent(path)) },
      ...(file.kind === 'mp4' && { has_audio: true, has_video: true, duration: 2000, streams }),
    };
  }

  #facts(number: number, file: ReferenceFile, path: string) {
    const { size, md5 } = this.#files.facts(file.kind, path);
    // Playlists are rewritten when they are published, after their inspection. Some elements have no checksum.
    const isStale = file.kind === 'm3u8';
    const isWrong = isStale || this.#site.options.faultOf(number) === 'file-changed';
    const checksum = file.id === 'preview-2' ? '' : `${isWrong ? '0'.repeat(md5.length) : md5} (md5)`;
    return { size: isStale ? size + 1 : size, checksum };
  }

  #address(path: string, sign: boolean): string {
    const { signedForMs } = this.#site.options;
    const address = `${this.#site.url}${path}`;
    if (!sign || signedForMs === 0) return address;
    const policy = Buffer.from(String(Date.now() + signedForMs)).toString('base64url');
    return `${address}?policy=${policy}&keyId=demo&signature=${signature(decodeURIComponent(path), policy)}`;
  }

  /** Returns the tracks of an event. */
  tracks(number: number): unknown[] {
    return sourceTracks(eventFields(number, this.#site.options).kind).map((file) => this.#track(number, file));
  }
}

const signature = (path: string, policy: string) =>
  createHmac('sha256', 'key')
    .update(path + policy)
    .digest('hex');

/** Returns the status that refuses a signed address; undefined for a valid one. */
export function signatureFault(path: string, query: URLSearchParams): number | undefined {
  const policy = query.get('policy') ?? '';
  const given = Buffer.from(query.get('signature') ?? '');
  const expected = Buffer.from(signature(path, policy));
  if (given.length === 0) return 400;
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 403;
  return Number(Buffer.from(policy, 'base64url').toString()) < Date.now() ? 410 : undefined;
}
