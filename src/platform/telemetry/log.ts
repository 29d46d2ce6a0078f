import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import pino from 'pino';
import { prettyFactory } from 'pino-pretty';

const STDOUT = 1;
const MAX_WAITING_BYTES = 8 * 2 ** 20;
const RETRY_MS = 100;
/** Time for a slow reader to take the last lines. */
const LAST_LINES_MS = 250;
/** Streams close their files when garbage-collected. */
const held: Socket[] = [];

/**
 * Writes log lines without throwing or waiting. Lines for a full pipe are buffered up to a limit, others dropped; one
 * line reports their number later. (pino sleeps while a pipe is full, and throws when a disk is.)
 */
export class LogOutput {
  readonly #fd: number;
  readonly #maxWaitingBytes: number;
  readonly #notice: (dropped: number) => string;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  /** Dropped lines that the notice in `#waiting` reports; the notice is alone there. */
  #told = 0;
  /** True if the last write stopped within a line. */
  #torn = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param options.notice returns the line about dropped lines */
  constructor(options: { notice: (dropped: number) => string; fd?: number; maxWaitingBytes?: number }) {
    this.#fd = options.fd ?? STDOUT;
    this.#maxWaitingBytes = options.maxWaitingBytes ?? MAX_WAITING_BYTES;
    this.#notice = options.notice;
    if (isPipe(this.#fd)) failInsteadOfWaiting(this.#fd);
    process.once('exit', () => this.#writeLastLines());
  }

  /** Writes a line, with its line break, now, later or never. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    // Lines must not overtake the notice about dropped ones.
    if (this.#dropped > 0 || this.#waitingBytes + bytes.length > this.#maxWaitingBytes) {
      this.#dropped += 1;
      this.#tryLater();
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#writeWaiting();
  }

  #writeWaiting(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (!first && this.#dropped === 0) return;
      if (!first) {
        this.#addNotice();
        continue;
      }
      try {
        this.#wrote(first, writeSync(this.#fd, first));
      } catch (error) {
        if (!isFull(error)) this.#drop();
        this.#tryLater();
        return;
      }
    }
  }

  #addNotice(): void {
    const notice = Buffer.from(`${this.#torn ? '\n' : ''}${this.#notice(this.#dropped)}`);
    this.#waiting.push(notice);
    this.#waitingBytes = notice.length;
    this.#told = this.#dropped;
    this.#dropped = 0;
  }

  #wrote(first: Buffer, count: number): void {
    this.#waitingBytes -= count;
    this.#torn = count < first.length;
    if (this.#torn) {
      this.#waiting[0] = first.subarray(count);
    } else {
      this.#waiting.shift();
      this.#told = 0;
    }
  }

  #drop(): void {
    // The notice does not count as a dropped line.
    this.#dropped += this.#waiting.length + (this.#told > 0 ? this.#told - 1 : 0);
    this.#told = 0;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
  }

  #tryLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#writeWaiting();
    }, RETRY_MS).unref();
  }

  #writeLastLines(): void {
    const end = performance.now() + LAST_LINES_MS;
    for (this.#writeWaiting(); this.#waiting.length > 0 && performance.now() < end; this.#writeWaiting()) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function isPipe(fd: number): boolean {
  try {
    const kind = fstatSync(fd);
    return kind.isFIFO() || kind.isSocket();
  } catch {
    return false;
  }
}

/** Makes writes fail while a pipe is full. Runtimes set non-blocking mode only for streams. */
function failInsteadOfWaiting(fd: number): void {
  held.push(new Socket({ fd, readable: false, writable: true }).on('error', () => undefined).unref());
}

function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}

/** A structured logger. Bind identifiers (`requestId`, `eventId`, `operation`) with `child`. */
export type Logger = pino.Logger;

/** Logs to standard output, as JSON or readable lines. */
export function createLogger(options: { level: pino.Level; format: 'json' | 'pretty' }): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: pino.stdSerializers.err },
    // Redis clients quote commands, even passwords.
    redact: ['authorization', 'password', '*.authorization', '*.password', '*.command'],
  };
  const format = options.format === 'json' ? (line: string) => line : readable();
  const output = new LogOutput({ notice: (dropped) => format(droppedLines(settings, dropped)) });
  return pino(settings, { write: (line) => output.write(format(line)) });
}

/** Runs in this process: pino's transports start threads, which need permissions that the API lacks on Deno. */
function readable(): (line: string) => string {
  return prettyFactory({ colorize: false, singleLine: true, translateTime: 'HH:MM:ss' });
}

/** Returns the entry about dropped lines, at every log level: readers must know that the log is incomplete. */
function droppedLines(settings: pino.LoggerOptions, dropped: number): string {
  let entry = '';
  const capture = {
    write: (line: string) => {
      entry = line;
    },
  };
  pino({ ...settings, level: 'warn' }, capture).warn({ dropped }, 'log lines could not be written');
  return entry;
}

/** A logger without output, for tools and tests. */
export const silentLogger: Logger = pino({ level: 'silent' });
