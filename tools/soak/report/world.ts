import { sql } from 'kysely';
import type { Manner, Upload } from '../uploads/upload.ts';
import type { Finding } from '../verdict/finding.ts';
import type { World } from '../world/world.ts';

/** What a run in one world came to. */
export interface WorldReport {
  world: string;
  seed: number;
  minutes: number;
  uploads: {
    sent: number;
    /** With 200 or 201. */
    accepted: number;
    /** Of those, by the state of their events. */
    states: Record<string, number>;
    /** Refused with a status, by it; `none` for those without an answer. */
    others: Record<string, number>;
    byManner: Partial<Record<Manner, { sent: number; accepted: number; longestAnswerMs: number }>>;
  };
  /** From the acceptance of a recording to its publication, in seconds; of those that were published. */
  publication: { medianSeconds: number; longestSeconds: number };
  /** How often each kind happened. */
  faults: Record<string, number>;
  /** Processes that were killed by the plan, and by a recording. */
  kills: { planned: number; byRecordings: number };
  findings: Finding[];
  clean: boolean;
}

type Run = Pick<WorldReport, 'faults' | 'findings' | 'seed' | 'minutes'> & { uploads: readonly Upload[] };

export async function reportOf(world: World, run: Run): Promise<WorldReport> {
  const { uploads, faults, findings, seed, minutes } = run;
  const accepted = uploads.filter(({ id }) => id !== undefined);
  const events = await world.database.selectFrom('events').select(['id', 'processing_state']).execute();
  const states = new Map(events.map(({ id, processing_state }) => [id, processing_state]));
  const kinds = Object.entries(faults).filter(([kind]) => kind.endsWith('is killed') && !kind.startsWith('S3'));
  return {
    ...{ world: world.kind.name, seed, minutes },
    uploads: {
      ...{ sent: uploads.length, accepted: accepted.length },
      states: count(accepted.map(({ id = '' }) => states.get(id) ?? 'gone')),
      others: count(uploads.flatMap(({ id, status }) => (id === undefined ? [String(status ?? 'none')] : []))),
      byManner: byManner(uploads),
    },
    publication: await publicationTimes(world),
    faults,
    kills: {
      planned: kinds.reduce((sum, [, times]) => sum + times, 0),
      byRecordings: world.processes.reduce((sum, { poisoned }) => sum + poisoned, 0),
    },
    findings,
    clean: findings.every((each) => each.faults.length === 0),
  };
}

function byManner(uploads: readonly Upload[]): WorldReport['uploads']['byManner'] {
  const groups = Object.entries(Object.groupBy(uploads, ({ manner }) => manner));
  return Object.fromEntries(
    groups.map(([manner, own = []]) => [
      manner,
      {
        sent: own.length,
        accepted: own.filter(({ id }) => id !== undefined).length,
        longestAnswerMs: Math.max(...own.map(({ tookMs }) => tookMs)),
      },
    ]),
  );
}

async function publicationTimes({ database }: World): Promise<WorldReport['publication']> {
  const { rows } = await sql<{ median: number | null; longest: number | null }>`
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median, max(seconds) AS longest
    FROM (SELECT extract(epoch FROM max(o.finished_at) - min(w.created_at))::float8 AS seconds
      FROM workflows w JOIN workflow_operations o ON o.workflow_id = w.id
      WHERE w.state = 'SUCCEEDED' GROUP BY w.id) AS times`.execute(database);
  const { median, longest } = rows[0] ?? {};
  return { medianSeconds: round(median), longestSeconds: round(longest) };
}

const round = (seconds: number | null | undefined) => Math.round((seconds ?? 0) * 10) / 10;

function count(names: readonly string[]): Record<string, number> {
  const groups = Object.groupBy(names, (name) => name);
  return Object.fromEntries(Object.entries(groups).map(([name, all = []]) => [name, all.length]));
}
