import pg from 'pg';
import type { Logger } from '../telemetry.ts';

const RECONNECT_MS = 1_000;

/** Hears notifications on a channel for as long as the process lives; reconnects by itself. */
export interface Listener {
  close(): Promise<void>;
}

/** Calls back for each notification, and once after every (re)connection, since some may have been missed. */
export function listen(
  databaseUrl: string,
  channel: string,
  log: Logger,
  onNotification: () => void,
): Listener {
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;

  const connect = async () => {
    const current = new pg.Client({
      connectionString: databaseUrl,
      keepAlive: true,
      application_name: 'inlet listener',
    });
    client = current;
    current.on('notification', onNotification);
    let lost = false;
    const reconnect = (error: Error) => {
      if (closed || lost) return;
      lost = true;
      log.warn({ reason: error.message }, 'not listening to the database; trying again');
      current.end().catch(() => undefined);
      retry = setTimeout(() => void connect(), RECONNECT_MS);
    };
    current.on('error', reconnect);
    current.on('end', () => reconnect(new Error('The connection was closed.')));
    try {
      await current.connect();
      await current.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
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
      await client?.end().catch(() => undefined);
    },
  };
}
