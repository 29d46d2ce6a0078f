import pino from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.ts';

/** A structured logger. Bind what identifies the work (`requestId`, `eventId`, `operation`) with `child`. */
export type Logger = pino.Logger;

/**
 * Logs to standard output, one JSON object or one readable line per entry.
 *
 * The pretty printer runs in this process: pino's transports start worker threads, which need permissions on
 * Deno that the API must not have.
 */
export function createLogger(options: Config['log']): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: pino.stdSerializers.err },
    redact: ['authorization', 'password', '*.authorization', '*.password'],
  };
  if (options.format === 'json') return pino(settings);
  return pino(settings, pretty({ colorize: false, singleLine: true, sync: true, translateTime: 'HH:MM:ss' }));
}

/** A logger that says nothing, for tools and tests. */
export const silentLogger: Logger = pino({ level: 'silent' });
