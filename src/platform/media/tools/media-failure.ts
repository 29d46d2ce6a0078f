/** The meaning of a failure for the next attempt; see `MediaFailure`. */
export interface FailureOptions {
  permanent: boolean;
  ours?: boolean;
  attempts?: number;
  stopped?: boolean;
  log?: string;
  cause?: unknown;
}

/** A media tool failed. */
export class MediaFailure extends Error {
  override name = 'MediaFailure';
  /** True if another attempt on the same file would fail too (not media, unsupported, corrupt). */
  readonly permanent: boolean;
  /** True if the service failed (the disk, the tool itself), not the file. */
  readonly ours: boolean;
  /** The number of failed attempts after which the file counts as the cause; undefined without limit. */
  readonly attempts: number | undefined;
  /** True if the tool was asked to stop, as all processes are when the service stops. */
  readonly stopped: boolean;
  readonly log: string;

  /** @param message a sentence for people, without paths of this machine */
  constructor(message: string, options: FailureOptions) {
    super(message, { cause: options.cause });
    this.permanent = options.permanent;
    this.ours = options.ours ?? false;
    this.attempts = options.attempts;
    this.stopped = options.stopped ?? false;
    this.log = options.log ?? '';
  }
}

const PERMANENT: FailureOptions = { permanent: true };
/** Temporary, or caused by the file. If it happens twice, the file is the cause. */
const TWICE: FailureOptions = { permanent: false, attempts: 2 };

export const MAX_STREAMS = 100;
const TOO_MANY_STREAMS = `The file has more than ${MAX_STREAMS} streams. Recordings have fewer.`;
export const ENCRYPTED = 'The file is encrypted. Export it without copy protection and send it again.';
export const NOTHING_FOLLOWS = 'The file is damaged: it has a header, but no sound or picture follows.';
const CONVERT = 'If a player plays it, convert it to MP4 (H.264 and AAC) and send that.';

type Explanation = [pattern: RegExp, message: string, meaning: FailureOptions];

/** Explanations that apply only to tools that write files. */
const WRITING: readonly Explanation[] = [
  [/No space left on device|Disk quota exceeded/, 'The disk of the worker is full.', TWICE],
  [
    /Unknown encoder|Encoder not found|No such filter|Unrecognized option/,
    'The installed ffmpeg lacks a component. It must be built with libx264.',
    TWICE,
  ],
];
/**
 * Explanations of lines in ffmpeg's log; the first match counts. The log quotes the file, which may hold anything, so
 * no line proves a failure of the service.
 */
const EXPLANATIONS: readonly Explanation[] = [
  // Before the lack of memory, which ffmpeg reports too.
  [/Number of streams exceeds max_streams/, TOO_MANY_STREAMS, PERMANENT],
  [/DRM protected stream/, ENCRYPTED, PERMANENT],
  [/moov atom not found/, 'The file is incomplete: its index is missing.', PERMANENT],
  [/Picture size .* is invalid|image is too large|max_pixels/i, 'The picture is too large to be processed.', PERMANENT],
  [
    /Cannot allocate memory|Error allocating|malloc of size/,
    'Reading the file takes more memory than is available. It is probably damaged.',
    TWICE,
  ],
  // Damaged files cause these, too.
  [
    /Input\/output error|Too many open files|Resource temporarily unavailable/,
    'The file could not be read to its end. It is probably damaged.',
    TWICE,
  ],
  [
    /: (?:No such file or directory|Permission denied|Connection \w+|Cannot assign requested address)/,
    'The worker could not open its files.',
    TWICE,
  ],
  [
    /Decoder \(codec .*\) not found|Unknown decoder|Unsupported codec|unknown codec|codec none\)/i,
    `The file uses a codec that cannot be read here. ${CONVERT}`,
    PERMANENT,
  ],
  [
    /Could not find codec parameters|Cannot determine format of input stream/,
    'The file is damaged: the format of one of its streams is unknown.',
    PERMANENT,
  ],
  [/: End of file$/m, NOTHING_FOLLOWS, PERMANENT],
  [
    /Invalid data found|Error while decoding|error reading|EBML header parsing failed|Error opening input/i,
    'The file is damaged: its content does not match its format.',
    PERMANENT,
  ],
];

const UNEXPLAINED: Explanation = [/^/, `The file cannot be read: it is damaged or unusual. ${CONVERT}`, PERMANENT];

/** The exit status of a tool that failed. */
export interface ExitStatus {
  code: number | null;
  killedBy: NodeJS.Signals | null;
}

/** ffmpeg's exit code after a signal that asked it to stop. */
const ASKED_TO_STOP = 255;
/** Exit codes of the shell and the dynamic linker for a program that cannot be run or lacks a library. */
const CANNOT_RUN: readonly unknown[] = [126, 127];
const CRASHES: readonly string[] = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP'];
const REQUESTS: readonly string[] = ['SIGTERM', 'SIGINT'];

/**
 * Returns the failure of a tool that exited with an error or was killed.
 *
 * @param log the tail of its log, without paths
 */
export function failureFromLog(tool: string, log: string, { code, killedBy }: ExitStatus): MediaFailure {
  if (killedBy || code === ASKED_TO_STOP) {
    const lines = [log, `${tool} was stopped by ${killedBy ?? 'a signal'}`].filter(Boolean).join('\n');
    return killedBySignal(killedBy, lines);
  }
  if (CANNOT_RUN.includes(code)) return notStarted(tool, { log });
  const explanations = tool === 'ffprobe' ? EXPLANATIONS : [...WRITING, ...EXPLANATIONS];
  const [, message, meaning] = explanations.find(([pattern]) => pattern.test(log)) ?? UNEXPLAINED;
  return new MediaFailure(message, { ...meaning, log });
}

/** Returns the failure of a program that could not be started. */
export function notStarted(tool: string, why: Pick<FailureOptions, 'log' | 'cause'>): MediaFailure {
  return new MediaFailure(`${tool} could not be started.`, { permanent: false, ours: true, ...why });
}

/** Returns the meaning of a signal that stopped a program; null for an unknown request to stop. */
export function meaningOf(signal: NodeJS.Signals | null): FailureOptions {
  if (signal && CRASHES.includes(signal)) return TWICE;
  return { permanent: false, stopped: signal === null || REQUESTS.includes(signal) };
}

function killedBySignal(signal: NodeJS.Signals | null, log: string): MediaFailure {
  let message = 'The processing of the file was stopped from outside.';
  if (signal && CRASHES.includes(signal)) {
    message = 'The file crashed the program that reads it. It is probably damaged.';
  } else if (signal === 'SIGKILL') {
    // The system does that when memory runs out, for which other processes may be the reason.
    message = 'The processing of the file was killed from outside, as happens when the machine runs out of memory.';
  }
  return new MediaFailure(message, { ...meaningOf(signal), log });
}
