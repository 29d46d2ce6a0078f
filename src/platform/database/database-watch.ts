import { type RawBuilder, sql } from 'kysely';
import type { Database } from './kysely.ts';

const LOOK_MS = 1_000;
/** A longer time between two checks, or a clock set back by more, counts as an outage. */
const GAP_SECONDS = 5;
/** While a synchronous standby is down, reads succeed and commits wait: nobody can report, as in any outage. */
const COMMIT = sql`CASE WHEN current_setting('synchronous_standby_names') <> ''
  THEN pg_logical_emit_message(true, 'inlet', '') END AS commit`;

/** The time during which a process has seen the database, in the database's own time. */
export interface ObservedPeriod {
  /** The start, without a gap since. */
  since: Date;
  /** The last check. */
  until: Date;
}

/**
 * Checks the database periodically. A silent process may have died, or may have been unable to reach the database. So
 * after its start, and after an outage, a process declares nothing dead until a whole lease has passed.
 */
export class DatabaseWatch {
  readonly #database: Database;
  readonly #gapMs: number;
  readonly #timer: NodeJS.Timeout;
  #seen: ObservedPeriod | undefined;
  #looking = false;

  constructor(database: Database, { lookMs = LOOK_MS, gapMs = GAP_SECONDS * 1000 } = {}) {
    this.#database = database;
    this.#gapMs = gapMs;
    this.#timer = setInterval(() => void this.look(), lookMs);
    this.#timer.unref();
    void this.look();
  }

  /** Undefined at first; during an outage, the last value. */
  get seen(): ObservedPeriod | undefined {
    return this.#seen;
  }

  /** Checks now; runs periodically by itself. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now, ${COMMIT}`.execute(this.#database);
      const now = rows[0]?.now;
      if (now) this.#seen = { since: this.#unbrokenUntil(now), until: now };
    } catch {
      // The users of the database report the error; here it shows as a gap.
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
 * Tests whether the database has been reachable for so long that a process silent for all that time could have
 * reported. False also without a check since an outage, or since the clock was set back.
 */
export function observedFor(seconds: number, seen: ObservedPeriod | undefined): RawBuilder<boolean> {
  if (!seen) return sql<boolean>`false`;
  return sql<boolean>`(${seen.since}::timestamptz <= now() - make_interval(secs => ${seconds})
    AND NOT ${isStale(sql`${seen.until}::timestamptz`, GAP_SECONDS)})`;
}

/** Tests whether a time is more than so many seconds ago, or as far in the future: the clock was set back. */
export function isStale(time: RawBuilder<unknown>, seconds: number): RawBuilder<boolean> {
  const so = sql`make_interval(secs => ${seconds})`;
  return sql<boolean>`(${time} NOT BETWEEN now() - ${so} AND now() + ${so})`;
}
