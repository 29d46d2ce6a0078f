import { setTimeout as sleep } from 'node:timers/promises';
import { ServerAway } from './server.ts';

/** Longer than an upgrade takes, or a machine to start anew. */
const PATIENCE_MS = 600_000;
const PAUSE_MS = 2_000;

/** How a server that is away is waited for. */
export interface Patience {
  signal: AbortSignal;
  /** Is told each time that it is. */
  onAway?: (away: ServerAway) => void;
  /** How long it may be away. */
  patienceMs?: number;
  pauseMs?: number;
}

/**
 * Asks what may be asked twice, again and again while the server is away.
 *
 * @throws {ServerAway} when it has been away for too long
 */
export async function patiently<T>(
  ask: () => Promise<T>,
  { signal, onAway = () => undefined, patienceMs = PATIENCE_MS, pauseMs = PAUSE_MS }: Patience,
): Promise<T> {
  const begun = performance.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ServerAway)) throw error;
      const left = patienceMs - (performance.now() - begun);
      if (left <= 0) throw error;
      onAway(error);
      await sleep(Math.min(Math.max(pauseMs, error.retryAfterMs), left), undefined, { signal });
    }
  }
}
