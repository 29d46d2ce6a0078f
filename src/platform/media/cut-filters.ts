import { indexAbove, type KeptPart, placesOf } from './cutting.ts';

const BLOCKS_A_SECOND = 1000;

/** A range of a stream with a value, up to an exclusive end. */
interface Stretch {
  until: number;
  /** An expression of ffmpeg. */
  value: string;
}

/**
 * Returns an expression with the value of the stretch in which `variable` lies, and of the last one behind it. It is a
 * binary search: a thousand stretches cost ten comparisons, and nesting stays shallow.
 */
export function piecewise(variable: string, stretches: readonly Stretch[]): string {
  const middle = Math.ceil(stretches.length / 2);
  const [head, tail] = [stretches.slice(0, middle), stretches.slice(middle)];
  const border = head.at(-1);
  if (tail.length === 0 || !border) return border?.value ?? '0';
  return `if(lt(${variable},${plain(border.until)}),${piecewise(variable, head)},${piecewise(variable, tail)})`;
}

/** Formats a number without exponent, to a millionth. */
function plain(value: number): string {
  return String(Number(value.toFixed(6)));
}

/**
 * Returns filters that keep parts of a sound without gaps, to the millisecond. Rounding does not add up over parts.
 *
 * @param rate samples per second of the input, which begins at 0
 */
export function cutSound(parts: readonly KeptPart[], rate: number): string[] {
  const block = Math.max(1, Math.round(rate / BLOCKS_A_SECOND));
  const samples = (ms: number) => Math.round(((ms / 1000) * rate) / block) * block;
  const places = placesOf(parts).map(({ begin, end, from }) => {
    const [first, start] = [samples(begin), samples(from)];
    return { first, until: first + samples(from + end - begin) - start, shift: first - start };
  });
  const kept = places.map(({ first, until }) => ({ until, value: `gte(pts,${first})` }));
  const shifts = places.map(({ until, shift }) => ({ until, value: plain(shift) }));
  const select = `aselect='lt(pts,${places.at(-1)?.until ?? 0})*${piecewise('pts', kept)}'`;
  return [`asetnsamples=n=${block}:p=0`, select, `asetpts='PTS-${piecewise('PTS', shifts)}'`];
}

/** The fraction of a tick by which a time may be off and still belong to the same picture. */
const JITTER = 0.05;
/** In seconds. Times are known to a millionth. */
const TOLERANCE = 2e-5;
/** In seconds; longer than any recording. */
const BEYOND = 1e8;

/** A part in the result, whose pictures are counted in ticks of its frame rate. */
interface Place {
  begin: number;
  from: number;
  to: number;
  /** Seconds by which its pictures come earlier than in the source. */
  shift: number;
}

/**
 * Selects the pictures of a cut, and decides when they are shown.
 *
 * Each picture moves to the nearest tick, so that picture and sound never differ by more than half a tick, however many
 * parts there are. A part begins with the picture on screen at that time, even if it appeared long before.
 */
export class PictureCut {
  readonly #rate: number;
  readonly #places: Place[];
  /**
   * The times (in seconds of the source) from which a picture is too late to be the first of a part, and to be in the
   * last.
   */
  readonly #bounds: number[];
  readonly #latest: number[];

  /** @param rate pictures per second of the result */
  constructor(parts: readonly KeptPart[], rate: number) {
    this.#rate = rate;
    const places = placesOf(parts).map(({ begin, end, from: start }) => {
      const [from = 0, to = 0] = [start, start + end - begin].map((ms) => Math.round((ms / 1000) * rate));
      return { begin: begin / 1000, from, to, shift: (begin - start) / 1000 };
    });
    this.#places = places.filter(({ from, to }) => to > from);
    this.#bounds = this.#places.map((place) => this.#startOf(place, place.from + 1));
    this.#bounds.push(this.#end);
    this.#latest = this.#bounds.map(() => Number.NEGATIVE_INFINITY);
  }

  /** Adds a picture of the source, shown at a time in seconds. All pictures must be added, in any order. */
  add(time: number): void {
    const i = indexAbove(this.#bounds, time);
    if (i < this.#bounds.length) this.#latest[i] = Math.max(this.#latest[i] ?? time, time);
  }

  /** Returns filters that keep the pictures of the parts, at their times in the result. */
  filters(): string[] {
    const firsts = this.#firsts();
    const windows = this.#places.map((place, i) => {
      const before = this.#places[i - 1];
      const from = (firsts[i] ?? 0) - TOLERANCE;
      // The picture of a previous part stays on screen.
      const begin = before ? Math.max(from, this.#startOf(before, before.to)) : from;
      return { until: this.#startOf(place, place.to), value: `gte(t,${plain(begin)})` };
    });
    const ticks = this.#places.map(({ from, to, shift }, i) => ({
      until: windows[i]?.until ?? to,
      value: `0*st(0,${from})+${plain(0.5 + JITTER - shift * this.#rate)}`,
    }));
    const tick = `max(floor(T*${this.#rate}+(${piecewise('T', ticks)})),ld(0))`;
    const kept = [
      `select='lt(t,${plain(this.#end)})*${piecewise('t', windows)}'`,
      `setpts='round(${tick}/${this.#rate}/TB)'`,
      // Drops pictures that come faster than the frame rate.
      "select='isnan(prev_selected_pts)+gt(pts,prev_selected_pts)'",
    ].join(',');
    return ['settb=AVTB', this.#holdLast(kept), `settb=1000/${Math.round(this.#rate * 1000)}`];
  }

  /** True if the last picture stays on screen for long. */
  get holdsLast(): boolean {
    return this.#held !== undefined;
  }

  /** A last picture that stays on screen for long: its time, and the last tick at which it is shown. */
  get #held(): { time: number; until: number } | undefined {
    const [place, time] = [this.#places.at(-1), Math.max(...this.#latest)];
    if (!place || !Number.isFinite(time)) return undefined;
    const tick = Math.floor((time - place.shift) * this.#rate + 0.5 + JITTER);
    const until = place.to - 1;
    return Math.max(tick, place.from) < until ? { time, until } : undefined;
  }

  /** Repeats a held picture at the end: players need to know its end. */
  #holdLast(kept: string): string {
    const held = this.#held;
    if (!held) return kept;
    const chosen = `select='between(t,${plain(held.time - TOLERANCE)},${plain(held.time + TOLERANCE)})'`;
    const end = Math.round((held.until / this.#rate) * 1e6);
    return [
      `split[all][one];[all]${kept}[kept];[one]${chosen},setpts=${BEYOND}/TB[held]`,
      `;[kept][held]concat=n=2:v=1:a=0,settb=AVTB,setpts='if(gte(T,${BEYOND}),${end},PTS)'`,
    ].join('');
  }

  /** Returns when the first picture of each part is shown in the source, or the beginning of a part without one. */
  #firsts(): number[] {
    let latest = Number.NEGATIVE_INFINITY;
    return this.#places.map((place, i) => {
      latest = Math.max(latest, this.#latest[i] ?? latest);
      return Number.isFinite(latest) ? latest : place.begin;
    });
  }

  get #end(): number {
    const last = this.#places.at(-1);
    return last ? this.#startOf(last, last.to) : 0;
  }

  /** Returns the time from which pictures of the source belong to a tick or a later one. */
  #startOf({ shift }: Place, tick: number): number {
    return shift + (tick - 0.5 - JITTER) / this.#rate;
  }
}
