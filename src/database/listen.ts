import pg from 'pg';
import type { Logger } from '../telemetry.ts';
import { VITAL } from './limits.ts';
import { WatchedClient } from './watched-client.ts';

const RECONNECT_MS = 1_000;
const PROBE_MS = 10_000;

/** Hears notifications on a channel for as long as the process lives; reconnects by itself. */
export interface Listener {
  close(): Promise<void>;
}

/**
 * Calls back for each notification with its payload, and once after every (re)connection without any, since some may have
 * been missed. Nobody asks anything on such a connection, so whether it still lives is found out by asking, every `probeMs`.
 */
export function listen(
  databaseUrl: string,
  channel: string,
  log: Logger,
  onNotification: (payload?: string) => void,
  { probeMs = PROBE_MS, limits = VITAL } = {},
): Listener {
  let client: WatchedClient | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;

  const connect = () => {
    const reconnect = (error: Error) => {
      if (closed) return;
      log.warn({ reason: error.message }, 'not listening to the database; trying again');
      retry = setTimeout(connect, RECONNECT_MS);
    };
    const watching = {
      limits,
      probeMs,
      onNotification: ({ payload }: pg.Notification) => onNotification(payload),
      onLost: reconnect,
    };
    client = new WatchedClient(databaseUrl, 'inlet listener', watching);
    client.open(`LISTEN ${pg.escapeIdentifier(channel)}`).then(
      () => onNotification(),
      () => undefined,
    );
  };
  connect();

  return {
    close: async () => {
      closed = true;
      clearTimeout(retry);
      await client?.close();
    },
  };
}
