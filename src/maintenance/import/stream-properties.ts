import type { CopiedFile } from './copy-files.ts';
import { isPlaylist, type PlannedPublication } from './plan-files.ts';

/** The streaming of the media of a publication. */
export interface StreamPlan {
  /** The properties of renditions (`renditionProperties`), by the identifier of the element. */
  properties: Map<string, object>;
  /** Playlists that name files in places where they are not. */
  leftOut: Set<string>;
  /** Sentences about them. */
  notes: string[];
}

/** An entry of a multivariant playlist: attributes, and the address of the playlist of a rendition. */
const VARIANT = /^#EXT-X-STREAM-INF:(.*)\n([^#\n]+)$/gm;
const RENDITION = /^\.\.\/([0-9a-f-]{36})\/index\.m3u8$/;

/**
 * Finds out how copied media are streamed. Playlists of Inlet name their renditions by the identifiers of elements, which
 * a copy keeps. Playlists of other servers name files beside them that no list has: they are left out, and the media are
 * played as files.
 */
export function planStreams(
  { channel, elements }: PlannedPublication,
  copies: ReadonlyMap<string, CopiedFile>,
): StreamPlan {
  const plan: StreamPlan = { properties: new Map(), leftOut: new Set(), notes: [] };
  for (const { id, mediatype, filename } of elements) {
    const playlist = isPlaylist(mediatype) ? copies.get(id) : undefined;
    if (!playlist) continue;
    const properties = propertiesIn(playlist.text ?? '', copies);
    for (const [rendition, each] of properties ?? []) plan.properties.set(rendition, each);
    if (properties) continue;
    plan.leftOut.add(id);
    plan.notes.push(`The playlist ${filename} on the channel ${channel} names files that cannot be listed.`);
  }
  return plan;
}

/** Returns the properties of all renditions of a playlist; undefined if one of them was not copied. */
function propertiesIn(playlist: string, copies: ReadonlyMap<string, CopiedFile>): Map<string, object> | undefined {
  const properties = new Map<string, object>();
  for (const [, attributes = '', uri = ''] of playlist.matchAll(VARIANT)) {
    const [, id = ''] = RENDITION.exec(uri) ?? [];
    const headBytes = copies.get(id)?.headBytes;
    if (headBytes === undefined) return undefined;
    const number = (name: string) => Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(attributes)?.[1] ?? 0);
    const codecs = /CODECS="([^"]*)"/.exec(attributes)?.[1]?.split(',') ?? [];
    const rates = { peakBitRate: number('BANDWIDTH'), averageBitRate: number('AVERAGE-BANDWIDTH') };
    properties.set(id, { headBytes, codecs, ...rates });
  }
  return properties.size > 0 ? properties : undefined;
}
