import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { advance, type Control } from './advance.ts';
import { ClaimLost } from './locked-workflow.ts';
import { NO_MOVE, SUPERSEDED, WORKFLOW_MISSING } from './refusals.ts';
import { Superseded } from './retry.ts';
import { IllegalMove } from './states.ts';
import type { WantedState } from './workflow.schemas.ts';

/** The changes by the requested state. */
const CONTROLS: Readonly<Record<WantedState, Exclude<Control['kind'], 'configured'>>> = {
  running: 'resumed',
  paused: 'paused',
  stopped: 'stopped',
  retry: 'tried again',
};

/** A requested change of a workflow; undefined fields change nothing. */
export interface Wish {
  wanted: WantedState | undefined;
  /** Applies to operations that start later. */
  configuration?: Record<string, string> | undefined;
  /** The requesting account. */
  by: string;
}

/** Changes a workflow on request. @throws {HttpError} 404 when it is gone, 409 when its state does not allow it */
export async function controlWorkflow(
  database: Database,
  id: number,
  { wanted, configuration, by }: Wish,
): Promise<void> {
  try {
    await inTransaction(database, async (trx) => {
      if (wanted === 'retry') return void (await advance(trx, id, { kind: 'tried again', by, configuration }));
      if (configuration) await advance(trx, id, { kind: 'configured', by, configuration });
      if (wanted) await advance(trx, id, { kind: CONTROLS[wanted], by });
    });
  } catch (error) {
    throw refusalOf(error, id);
  }
}

function refusalOf(error: unknown, id: number): unknown {
  if (error instanceof IllegalMove) return NO_MOVE(error.from, error.to);
  if (error instanceof Superseded) return SUPERSEDED();
  if (error instanceof ClaimLost) return WORKFLOW_MISSING(String(id));
  return error;
}
