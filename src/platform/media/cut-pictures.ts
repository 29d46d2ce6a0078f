import type { KeptPart } from './cutting.ts';

/** What holds up to a place of a stream, exclusively. */
interface Stretch {
  until: number;
  /** An expression of ffmpeg's. */
  value: string;
}

/**
 * An expression that is the value of the stretch `variable` lies in, and that of the last one behind it. It is searched
 * by halves: a thousand stretches cost ten comparisons, and no evaluation goes deeper.
 */
export function piecewise(variable: string, stretches: readonly Stretch[]): string {
  const middle = Math.ceil(stretches.length / 2);
  const [head, tail] = [stretches.slice(0, middle), stretches.slice(middle)];
  const border = head.at(-1);
  if (tail.length === 0 || !border) return border?.value ?? '0';
  return `if(lt(${variable},${plain(border.until)}),${piecewise(variable, head)},${piecewise(variable, tail)})`;
}

/** A number without exponent, to a millionth. */
export function plain(value: number): string {
  return String(Number(value.toFixed(6)));
}

/** How much of a tick a time may be off, and still be the same picture's. */
const JITTER = 0.05;
/** Seconds. Times are known to a millionth. */
const TOLERANCE = 2e-5;
/** Seconds; no recording is as long. */
const BEYOND = 1e8;

/** Where a part comes to lie in the result, whose pictures are counted in ticks of its frame rate. */
interface Place {
  begin: number;
  from: number;
  to: number;
  /** Seconds that its pictures come earlier than in the source. */
  shift: number;
}

/**
 * Which pictures of a recording are in the result of a cut, and when they are shown.
 *
 * Each picture goes to the nearest tick, so that pictures and sound never come apart by more than half of one, however
 * many parts there are. A part begins with what was on screen then, even if that picture had come long before.
 */
export class PictureCut {
  readonly #rate: number;
  readonly #places: Place[];
  /** From when on (in seconds of the source) a picture is too late to be the first of a part, and to be in the last. */
  readonly #bounds: number[];
  readonly #latest: number[];

  /** @param rate pictures per second of the result */
  constructor(parts: readonly KeptPart[], rate: number) {
    this.#rate = rate;
    let length = 0;
    const places = parts.map(({ begin, end }) => {
      const [from, to] = [length, length + end - begin].map((ms) => Math.round((ms / 1000) * rate));
      const place = { begin: begin / 1000, from: from ?? 0, to: to ?? 0, shift: (begin - length) / 1000 };
      length += end - begin;
      return place;
    });
    this.#places = places.filter(({ from, to }) => to > from);
    this.#bounds = this.#places.map((place) => this.#reached(place, place.from + 1));
    this.#bounds.push(this.#end);
    this.#latest = this.#bounds.map(() => Number.NEGATIVE_INFINITY);
  }

  /** Tells of a picture of the source: when it is shown, in seconds. All have to be told, in any order. */
  add(time: number): void {
    const bounds = this.#bounds;
    let [low, high] = [0, bounds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((bounds[middle] ?? 0) > time) high = middle;
      else low = middle + 1;
    }
    if (low < bounds.length) this.#latest[low] = Math.max(this.#latest[low] ?? time, time);
  }

  /** Filters that leave the pictures of the parts, at their times in the result. */
  filters(): string[] {
    const firsts = this.#firsts();
    const windows = this.#places.map((place, i) => {
      const before = this.#places[i - 1];
      const from = (firsts[i] ?? 0) - TOLERANCE;
      // What a part before has taken is on screen still.
      const begin = before ? Math.max(from, this.#reached(before, before.to)) : from;
      return { until: this.#reached(place, place.to), value: `gte(t,${plain(begin)})` };
    });
    const ticks = this.#places.map(({ from, to, shift }, i) => ({
      until: windows[i]?.until ?? to,
      value: `0*st(0,${from})+${plain(0.5 + JITTER - shift * this.#rate)}`,
    }));
    const tick = `max(floor(T*${this.#rate}+(${piecewise('T', ticks)})),ld(0))`;
    const kept = [
      `select='lt(t,${plain(this.#end)})*${piecewise('t', windows)}'`,
      `setpts='round(${tick}/${this.#rate}/TB)'`,
      // Those that come faster than the result can show them.
      "select='isnan(prev_selected_pts)+gt(pts,prev_selected_pts)'",
    ].join(',');
    return ['settb=AVTB', this.#held(kept), `settb=1000/${Math.round(this.#rate * 1000)}`];
  }

  /** Shows the last picture once more at the end, if it is on screen for longer than the others: players need its end. */
  #held(kept: string): string {
    const [place, last] = [this.#places.at(-1), Math.max(...this.#latest)];
    if (!place || !Number.isFinite(last)) return kept;
    const tick = Math.floor((last - place.shift) * this.#rate + 0.5 + JITTER);
    if (Math.max(tick, place.from) >= place.to - 1) return kept;
    const chosen = `select='between(t,${plain(last - TOLERANCE)},${plain(last + TOLERANCE)})'`;
    const end = Math.round(((place.to - 1) / this.#rate) * 1e6);
    return [
      `split[all][one];[all]${kept}[kept];[one]${chosen},setpts=${BEYOND}/TB[held]`,
      `;[kept][held]concat=n=2:v=1:a=0,settb=AVTB,setpts='if(gte(T,${BEYOND}),${end},PTS)'`,
    ].join('');
  }

  /** When the picture that a part begins with is shown in the source; the beginning of a part that has none then. */
  #firsts(): number[] {
    let latest = Number.NEGATIVE_INFINITY;
    return this.#places.map((place, i) => {
      latest = Math.max(latest, this.#latest[i] ?? latest);
      return Number.isFinite(latest) ? latest : place.begin;
    });
  }

  get #end(): number {
    const last = this.#places.at(-1);
    return last ? this.#reached(last, last.to) : 0;
  }

  /** From when on pictures of the source go to a tick or a later one. */
  #reached({ shift }: Place, tick: number): number {
    return shift + (tick - 0.5 - JITTER) / this.#rate;
  }
}
