import pg from 'pg';
import type { Logger } from '../telemetry.ts';
import { createClient, VITAL } from './limits.ts';

const RECONNECT_MS = 1_000;
const PROBE_MS = 10_000;

/** Hears notifications on a channel for as long as the process lives; reconnects by itself. */
export interface Listener {
  close(): Promise<void>;
}

/**
 * Calls back for each notification, and once after every (re)connection, since some may have been missed. Nobody asks
 * anything on such a connection, so whether it still lives is found out by asking, every `probeMs`.
 */
export function listen(
  databaseUrl: string,
  channel: string,
  log: Logger,
  onNotification: () => void,
  { probeMs = PROBE_MS, limits = VITAL } = {},
): Listener {
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let probe: NodeJS.Timeout | undefined;
  let closed = false;

  const connect = async () => {
    const current = createClient(databaseUrl, limits, 'inlet listener');
    client = current;
    current.on('notification', onNotification);
    let lost = false;
    const reconnect = (error: Error) => {
      if (closed || lost) return;
      lost = true;
      clearTimeout(probe);
      log.warn({ reason: error.message }, 'not listening to the database; trying again');
      current.end().catch(() => undefined);
      retry = setTimeout(() => void connect(), RECONNECT_MS);
    };
    current.on('error', reconnect);
    current.on('end', () => reconnect(new Error('The connection was closed.')));
    try {
      await current.connect();
      await current.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      const ask = () => current.query('SELECT 1').then(askLater, reconnect);
      const askLater = () => {
        if (!closed && !lost) probe = setTimeout(ask, probeMs);
      };
      askLater();
      onNotification();
    } catch (error) {
      reconnect(error instanceof Error ? error : new Error(String(error)));
    }
  };
  void connect();

  return {
    close: async () => {
      closed = true;
      clearTimeout(retry);
      clearTimeout(probe);
      await client?.end().catch(() => undefined);
    },
  };
}
