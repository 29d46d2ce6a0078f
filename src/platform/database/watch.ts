import { type RawBuilder, sql } from 'kysely';
import type { Database } from './kysely.ts';

const LOOK_MS = 1_000;
/**
 * A longer time between two looks counts as an outage: during a shorter one nobody's lease can run out. So does a clock
 * that is set back further: what was written before lies ahead then.
 */
const GAP_SECONDS = 5;

/** What a process has seen of the database, in the database's own time. */
export interface Watched {
  /** Since when, without a gap. */
  since: Date;
  /** When it looked last. */
  until: Date;
}

/**
 * Looks at the database again and again. Whoever is silent may have died, or have had nobody to speak to: that is only
 * told apart by somebody who has seen the database all the time. So nobody is judged by a process that has just been
 * started, or after an outage, before everybody has had as long as they may be silent.
 */
export class DatabaseWatch {
  readonly #database: Database;
  readonly #gapMs: number;
  readonly #timer: NodeJS.Timeout;
  #seen: Watched | undefined;
  #looking = false;

  constructor(database: Database, { lookMs = LOOK_MS, gapMs = GAP_SECONDS * 1000 } = {}) {
    this.#database = database;
    this.#gapMs = gapMs;
    this.#timer = setInterval(() => void this.look(), lookMs);
    this.#timer.unref();
    void this.look();
  }

  /** Nothing at first; while the database is away, what was seen before. */
  get seen(): Watched | undefined {
    return this.#seen;
  }

  /** Looks now; runs by itself. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(this.#database);
      const now = rows[0]?.now;
      if (now) this.#seen = { since: this.#unbrokenUntil(now), until: now };
    } catch {
      // Whoever needs the database says so; here the gap will tell.
    } finally {
      this.#looking = false;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #unbrokenUntil(now: Date): Date {
    const { since, until } = this.#seen ?? { since: now, until: now };
    return Math.abs(now.getTime() - until.getTime()) <= this.#gapMs ? since : now;
  }
}

/**
 * Whether, at the time of the statement, the database has been there for so long that somebody who was silent all that
 * time has had the chance to speak. False as well when nobody has looked since an outage that may just have ended, or
 * since the clock was set back.
 */
export function couldSpeakFor(seconds: number, seen: Watched | undefined): RawBuilder<boolean> {
  if (!seen) return sql<boolean>`false`;
  return sql<boolean>`(${seen.since}::timestamptz <= now() - make_interval(secs => ${seconds})
    AND NOT ${isFarFromNow(sql`${seen.until}::timestamptz`, GAP_SECONDS)})`;
}

/**
 * Whether a time is longer ago than so many seconds. One that lies as far ahead counts as well: it was written before the
 * clock was set back, and nobody knows how long ago.
 *
 * @param time an expression
 */
export function isFarFromNow(time: RawBuilder<unknown>, seconds: number): RawBuilder<boolean> {
  const so = sql`make_interval(secs => ${seconds})`;
  return sql<boolean>`(${time} NOT BETWEEN now() - ${so} AND now() + ${so})`;
}
