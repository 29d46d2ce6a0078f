import type { Segment } from './fragment-index.ts';

/** A rendition as a multivariant playlist lists it. */
export interface Variant {
  /** The address of its playlist, relative to the multivariant one. */
  uri: string;
  /** Bits per second: of the successive segments with most, and of the whole. */
  peakBitRate: number;
  averageBitRate: number;
  /** As in RFC 6381. */
  codecs: readonly string[];
  /** Undefined for sound alone. */
  picture?: { width: number; height: number; frameRate: number | null } | undefined;
}

/** The bits and seconds of all segments before a place in a rendition. */
interface Place {
  bits: number;
  seconds: number;
}

/** The shortest and the longest set of segments that counts as a peak, in target durations (RFC 8216, section 4.1). */
const SHORTEST_SET = 0.5;
const LONGEST_SET = 1.5;

/** Returns the bit rates of segments, in bits per second. */
export function bitRatesOf(segments: readonly Segment[]): Pick<Variant, 'peakBitRate' | 'averageBitRate'> {
  let end: Place = { bits: 0, seconds: 0 };
  const places = [end];
  for (const { bytes, seconds } of segments) {
    end = { bits: end.bits + bytes * 8, seconds: end.seconds + seconds };
    places.push(end);
  }
  const average = end.bits / Math.max(end.seconds, 0.001);
  const target = targetDuration(segments);
  let peak = average;
  for (let next = peak; next > 0; next = higherRate(places, target, peak)) peak = next;
  return { averageBitRate: Math.ceil(average), peakBitRate: Math.ceil(peak) };
}

/**
 * Returns the rate of the set of successive segments that has the most bits above a rate; 0 if none has any. Repeated with
 * its own answers, it finds the highest rate in a few passes, even where a set has thousands of segments.
 */
function higherRate(places: readonly Place[], target: number, rate: number): number {
  const above = (place: Place | undefined) => (place ? place.bits - rate * place.seconds : Number.NaN);
  /** The beginnings of sets that end here or later. From `first` on, each has more bits above the rate than the one before. */
  const begins: Place[] = [];
  let [first, next, most, higher] = [0, 0, 0, 0];
  for (const end of places) {
    const since = (place: Place | undefined) => (place ? end.seconds - place.seconds : Number.NaN);
    for (let place = places[next]; place && since(place) >= SHORTEST_SET * target; place = places[next]) {
      while (begins.length > first && above(begins.at(-1)) >= above(place)) begins.pop();
      begins.push(place);
      next += 1;
    }
    while (since(begins[first]) > LONGEST_SET * target) first += 1;
    const begin = begins[first];
    if (!begin || above(end) - above(begin) <= most) continue;
    most = above(end) - above(begin);
    higher = (end.bits - begin.bits) / since(begin);
  }
  return higher > rate ? higher : 0;
}

/** Returns the length that a playlist gives for its longest segment, in seconds. */
function targetDuration(segments: readonly Segment[]): number {
  return segments.reduce((longest, { seconds }) => Math.max(longest, Math.round(seconds)), 1);
}

/**
 * Returns a multivariant playlist (RFC 8216). Players begin with the first rendition, which therefore is the lowest. Its
 * rank decides, because a copy may have fewer bits than what is encoded in lower heights.
 *
 * @param variants the best one first
 */
export function multivariantPlaylist(variants: readonly Variant[]): string {
  const lines = variants.toReversed().flatMap((variant) => {
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
  return playlist([
    `#EXT-X-TARGETDURATION:${targetDuration(segments)}`,
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
