import { safeFilename } from '#platform/http/form/filename.ts';
import type { MediaStream } from '#platform/media/streams.ts';
import type { SourceTrack } from './source.schemas.ts';

/** A file to copy. */
export interface PlannedFile {
  /** The identifier that it has here; the one of the source if that is a UUID. */
  id: string;
  /** The address at the source. */
  url: string;
  /** The path of the address, without host and query. */
  path: string;
  filename: string;
  flavor: string;
  mediatype: string;
  tags: string[];
  /** In bytes; undefined if the source does not tell. */
  size: number | undefined;
  checksum: { algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512'; hex: string } | undefined;
}

interface SourceFileJson extends Pick<SourceTrack, 'flavor' | 'tags' | 'size' | 'checksum'> {
  url: string;
  mediatype: string;
}

const CHECKSUM = /^([0-9a-f]{32,128}) \((md5|sha1|sha256|sha512)\)$/;
/** In hexadecimal digits. */
const CHECKSUM_LENGTHS: Record<string, number> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };
const FLAVOR = /^[^/]+\/[^/]+$/;
/** As headers can carry it. */
const MEDIATYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(;[\x20-\x7e]{0,200})?$/;

/** Returns a media type of the source, or another one if that is none. */
export const mediatypeOr = (mediatype: string, otherwise: string) =>
  MEDIATYPE.test(mediatype) ? mediatype : otherwise;

/** Reads the facts of a file. What this installation cannot store or send is replaced. */
export function fileOf({ url, flavor, mediatype, tags, size, checksum }: SourceFileJson, id: string): PlannedFile {
  const path = pathOf(url);
  const [, hex = '', algorithm = ''] = CHECKSUM.exec(checksum.toLowerCase().replace('sha-', 'sha')) ?? [];
  return {
    id,
    url,
    path,
    filename: safeFilename(decodePath(path.split('/').at(-1) ?? ''), 'file'),
    flavor: FLAVOR.test(flavor) ? flavor : 'unknown/unknown',
    mediatype: mediatypeOr(mediatype, 'application/octet-stream'),
    tags,
    size: size !== null && size !== undefined && size >= 0 ? size : undefined,
    checksum: hex.length === CHECKSUM_LENGTHS[algorithm] ? { algorithm: algorithm as 'md5', hex } : undefined,
  };
}

/** Returns the path of an address of the source, which may be relative; the address itself if it is none. */
export function pathOf(url: string): string {
  return URL.parse(url, 'http://source.invalid/')?.pathname ?? url;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The fields of streams in the JSON of a track (compatibility 3.10); `null` for what it does not tell. */
export function streamsOf(streams: SourceTrack['streams']): MediaStream[] {
  return Object.entries(streams).flatMap(([key, stream], index): MediaStream[] => {
    const number = (name: string) => (typeof stream[name] === 'number' ? stream[name] : null);
    const codec = typeof stream.format === 'string' ? stream.format : 'unknown';
    const shared = { index, codec, profile: null, frameCount: number('framecount'), bitRate: number('bitrate') };
    if (key.startsWith('audio')) {
      const [channels, samplingRate] = [number('channels') ?? 0, number('samplingrate')];
      return [{ type: 'audio', ...shared, channels, samplingRate, bitDepth: number('bitdepth'), preferred: false }];
    }
    if (!key.startsWith('video')) return [];
    const [width, height] = [number('framewidth') ?? 0, number('frameheight') ?? 0];
    const interlaced = stream.scantype === 'Interlaced';
    const rate = { frameRate: number('framerate'), peakFrameRate: null };
    const picture = { width, height, pixelFormat: null, tag: null, transfer: null, pixelAspect: 1, rotation: 0 };
    return [{ type: 'video', ...shared, ...picture, interlaced, ...rate }];
  });
}
