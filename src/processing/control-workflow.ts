import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { advance } from './advance-workflow.ts';
import { ClaimLost } from './locked-workflow.ts';
import type { RequestedState } from './workflow.schemas.ts';
import type { Control } from './workflow-change.ts';
import { ILLEGAL_MOVE, WORKFLOW_MISSING } from './workflow-refusals.ts';
import { IllegalMove } from './workflow-states.ts';

const CONTROLS: Readonly<Record<RequestedState, Exclude<Control['kind'], 'configured'>>> = {
  running: 'resumed',
  paused: 'paused',
  stopped: 'stopped',
  retry: 'tried again',
};

/** A requested change of a workflow; undefined fields change nothing. */
export interface ControlRequest {
  wanted: RequestedState | undefined;
  /** Applies to operations that start later. */
  configuration?: Record<string, string> | undefined;
  by: string;
  /** True if stopping a finished workflow is no error; its state stays. */
  mayBeFinished?: boolean;
}

/** Changes a workflow on request. @throws {HttpError} 404 when it is gone, 409 when its state does not allow it */
export async function controlWorkflow(
  database: Database,
  id: number,
  { wanted, configuration, by, mayBeFinished = false }: ControlRequest,
): Promise<void> {
  try {
    await inTransaction(database, async (trx) => {
      if (wanted === 'retry') return void (await advance(trx, id, { kind: 'tried again', by, configuration }));
      if (configuration) await advance(trx, id, { kind: 'configured', by, configuration });
      if (wanted) await advance(trx, id, { kind: CONTROLS[wanted], by });
    });
  } catch (error) {
    // Only finished workflows cannot be stopped.
    if (error instanceof IllegalMove && wanted === 'stopped' && mayBeFinished) return;
    if (error instanceof IllegalMove) throw ILLEGAL_MOVE(error.from, error.to);
    if (error instanceof ClaimLost) throw WORKFLOW_MISSING(String(id));
    throw error;
  }
}
