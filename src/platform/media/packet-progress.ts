import { Lines } from './tools/lines.ts';

const TIME_BASE = /^#tb 0: (\d+)\/(\d+)/;
const PACKET = /^0,\s*(-?\d+),/;
/** All packets have been read, and not all of them are written: only the end of the tool is the end. */
const READ = 0.99;

/** What a stream is known to hold before it is read. */
export interface Expected {
  /** Milliseconds. */
  duration: number;
  /** Null where nobody has counted. */
  packets: number | null;
}

/**
 * Turns the lines of ffmpeg's framecrc format into a fraction of the work: of the packets, or, where nobody knows how
 * many there are, of the duration. Packets that are hours apart cost no more than others.
 */
export class PacketProgress {
  readonly #expected: Expected;
  readonly #report: (fraction: number) => void;
  readonly #lines = new Lines((line) => this.#line(line));
  #secondsPerTick = 0;
  #start: number | undefined;
  #packets = 0;

  constructor(expected: Expected, report: (fraction: number) => void) {
    this.#expected = expected;
    this.#report = report;
  }

  add(output: string): void {
    this.#lines.add(output);
  }

  #line(line: string): void {
    const base = TIME_BASE.exec(line);
    if (base) this.#secondsPerTick = Number(base[1]) / Number(base[2]);
    const packet = PACKET.exec(line);
    if (!packet) return;
    this.#packets += 1;
    const seconds = Number(packet[1]) * this.#secondsPerTick;
    this.#start ??= seconds;
    const { packets, duration } = this.#expected;
    const fraction = packets ? this.#packets / packets : ((seconds - this.#start) * 1000) / duration;
    if (Number.isFinite(fraction)) this.#report(Math.min(READ, Math.max(0, fraction)));
  }
}
