import { piecewise, plain } from './cut-expression.ts';
import type { KeptPart } from './kept.ts';

const BLOCKS_A_SECOND = 1000;

/**
 * Filters that keep parts of a sound without gaps, to a millisecond: no rounding adds up over the parts.
 *
 * @param rate samples per second of what comes in, which begins at 0
 */
export function cutSound(parts: readonly KeptPart[], rate: number): string[] {
  const block = Math.max(1, Math.round(rate / BLOCKS_A_SECOND));
  const samples = (ms: number) => Math.round(((ms / 1000) * rate) / block) * block;
  let length = 0;
  const places = parts.map(({ begin, end }) => {
    const [from, to] = [samples(length), samples(length + end - begin)];
    length += end - begin;
    const first = samples(begin);
    return { first, until: first + to - from, shift: first - from };
  });
  const last = places.at(-1)?.until ?? 0;
  const begun = piecewise(
    'pts',
    places.map(({ first, until }) => ({ until, value: `gte(pts,${first})` })),
  );
  const shift = piecewise(
    'PTS',
    places.map((place) => ({ until: place.until, value: plain(place.shift) })),
  );
  return [`asetnsamples=n=${block}:p=0`, `aselect='lt(pts,${last})*${begun}'`, `asetpts='PTS-${shift}'`];
}
