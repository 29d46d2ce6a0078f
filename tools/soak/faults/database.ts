import type { Fault } from '../plan.ts';
import type { SoakPostgres } from '../world/postgres.ts';

const AWAY_SECONDS = [55, 65] as const;

/** What happens to the server itself. */
export function databaseFaults(postgres: SoakPostgres): Fault[] {
  const fault = (what: string, mode: 'fast' | 'immediate', more: Partial<Fault> = {}): Fault => ({
    name: `PostgreSQL ${what}`,
    kind: `PostgreSQL ${what}`,
    target: 'database',
    begin: () => postgres.stop(mode),
    end: () => postgres.start(),
    seconds: [0, 1],
    ...more,
  });
  return [
    fault('is restarted', 'fast'),
    fault('crashes and is started again', 'immediate'),
    fault('is stopped for a minute', 'fast', { seconds: AWAY_SECONDS }),
  ];
}
