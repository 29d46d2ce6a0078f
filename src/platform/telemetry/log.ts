import pino from 'pino';
import { prettyFactory } from 'pino-pretty';
import { LogOutput } from './log-output.ts';

/** A structured logger. Bind what identifies the work (`requestId`, `eventId`, `operation`) with `child`. */
export type Logger = pino.Logger;

/** How much is logged, and in which form. */
export interface LogSettings {
  level: pino.Level;
  format: 'json' | 'pretty';
}

/** Logs to standard output, one JSON object or one readable line per entry. */
export function createLogger(options: LogSettings): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: pino.stdSerializers.err },
    // A client of Redis quotes what it sent, and be it the password.
    redact: ['authorization', 'password', '*.authorization', '*.password', '*.command'],
  };
  const format = options.format === 'json' ? (line: string) => line : readable();
  const output = new LogOutput({ notice: (dropped) => format(droppedLines(settings, dropped)) });
  return pino(settings, { write: (line) => output.write(format(line)) });
}

/**
 * The pretty printer runs in this process: pino's transports start worker threads, which need permissions on
 * Deno that the API must not have.
 */
function readable(): (line: string) => string {
  return prettyFactory({ colorize: false, singleLine: true, translateTime: 'HH:MM:ss' });
}

/** An entry of the log, whatever its level is: who reads it must know that it is incomplete. */
function droppedLines(settings: pino.LoggerOptions, dropped: number): string {
  let entry = '';
  const capture = {
    write: (line: string) => {
      entry = line;
    },
  };
  pino({ ...settings, level: 'warn' }, capture).warn({ dropped }, 'lines of the log could not be written');
  return entry;
}

/** A logger that says nothing, for tools and tests. */
export const silentLogger: Logger = pino({ level: 'silent' });
