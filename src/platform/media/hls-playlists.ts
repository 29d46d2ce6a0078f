import type { Segment } from './fragment-index.ts';

/** A rendition as a multivariant playlist lists it. */
export interface Variant {
  /** The address of its playlist, relative to the multivariant one. */
  uri: string;
  /** Bits per second: of the largest segments, and of the whole. */
  peakBitRate: number;
  averageBitRate: number;
  /** As in RFC 6381. */
  codecs: readonly string[];
  /** Undefined for sound alone. */
  picture?: { width: number; height: number; frameRate: number | null } | undefined;
}

/** Shorter segments at the end say nothing about the peak. */
const SHORTEST_FOR_PEAK = 0.5;

/** Returns the bit rates of segments, in bits per second. */
export function bitRatesOf(segments: readonly Segment[]): Pick<Variant, 'peakBitRate' | 'averageBitRate'> {
  const bits = segments.reduce((sum, { bytes }) => sum + bytes * 8, 0);
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0);
  const averageBitRate = Math.ceil(bits / Math.max(seconds, 0.001));
  const longest = Math.max(...segments.map((segment) => segment.seconds));
  const whole = segments.filter((segment) => segment.seconds >= longest * SHORTEST_FOR_PEAK && segment.seconds > 0);
  const peaks = whole.map((segment) => Math.ceil((segment.bytes * 8) / segment.seconds));
  return { averageBitRate, peakBitRate: Math.max(averageBitRate, ...peaks) };
}

/** Returns a multivariant playlist (RFC 8216), the lowest bit rate first, which players therefore begin with. */
export function multivariantPlaylist(variants: readonly Variant[]): string {
  const lines = variants
    .toSorted((a, b) => a.peakBitRate - b.peakBitRate)
    .flatMap((variant) => {
      const { uri, peakBitRate, averageBitRate, codecs, picture } = variant;
      const attributes = [
        `BANDWIDTH=${peakBitRate}`,
        `AVERAGE-BANDWIDTH=${averageBitRate}`,
        ...(picture ? [`RESOLUTION=${picture.width}x${picture.height}`] : []),
        ...(picture?.frameRate ? [`FRAME-RATE=${picture.frameRate.toFixed(3)}`] : []),
        `CODECS="${codecs.join(',')}"`,
      ];
      return [`#EXT-X-STREAM-INF:${attributes.join(',')}`, uri];
    });
  return playlist(['#EXT-X-INDEPENDENT-SEGMENTS', ...lines]);
}

/** Returns the playlist of one file, whose segments are ranges of its bytes. @param uri of the file, percent-encoded */
export function mediaPlaylist(
  uri: string,
  { initBytes, segments }: { initBytes: number; segments: readonly Segment[] },
) {
  const longest = Math.max(1, ...segments.map(({ seconds }) => Math.round(seconds)));
  return playlist([
    `#EXT-X-TARGETDURATION:${longest}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    `#EXT-X-MAP:URI="${uri}",BYTERANGE="${initBytes}@0"`,
    ...segments.flatMap(({ offset, bytes, seconds }) => [
      `#EXTINF:${seconds.toFixed(6)},`,
      `#EXT-X-BYTERANGE:${bytes}@${offset}`,
      uri,
    ]),
    '#EXT-X-ENDLIST',
  ]);
}

function playlist(lines: readonly string[]): string {
  return ['#EXTM3U', '#EXT-X-VERSION:7', ...lines, ''].join('\n');
}
