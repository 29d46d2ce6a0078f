const TIME_BASE = /^#tb 0: (\d+)\/(\d+)/;
const PACKET = /^0,\s*(-?\d+),/;

/** Turns the lines of ffmpeg's framecrc format into a fraction of the recording's duration. */
export class PacketProgress {
  readonly #duration: number;
  readonly #report: (fraction: number) => void;
  #secondsPerTick = 0;
  #start: number | undefined;
  #rest = '';

  /** @param duration milliseconds */
  constructor(duration: number, report: (fraction: number) => void) {
    this.#duration = duration;
    this.#report = report;
  }

  add(output: string): void {
    const lines = (this.#rest + output).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    const base = TIME_BASE.exec(line);
    if (base) this.#secondsPerTick = Number(base[1]) / Number(base[2]);
    const packet = PACKET.exec(line);
    if (!packet || this.#duration <= 0) return;
    const seconds = Number(packet[1]) * this.#secondsPerTick;
    this.#start ??= seconds;
    this.#report(Math.min(1, Math.max(0, ((seconds - this.#start) * 1000) / this.#duration)));
  }
}
