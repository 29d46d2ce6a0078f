
/** How much a failure says about the next attempt. */
export interface FailureOptions {
  permanent: boolean;
  ours?: boolean;
  attempts?: number;
  stopped?: boolean;
  log?: string;
  cause?: unknown;
}

/** A media tool could not do its work. */
export class MediaFailure extends Error {
  override name = 'MediaFailure';
  /** Whether another attempt on the same file would fail as well (not media, unsupported, corrupt). */
  readonly permanent: boolean;
  /** Whether something of ours failed (the disk, the tool itself), and the file has nothing to do with it. */
  readonly ours: boolean;
  /** After so many attempts it is the file that makes it happen; undefined while any number is worth it. */
  readonly attempts: number | undefined;
  /** Whether somebody asked the tool to end, as is done to all processes of a service that ends. */
  readonly stopped: boolean;
  /** The last lines of the tool's log. */
  readonly log: string;

  /** @param message a sentence a person understands, without paths of this machine */
  constructor(message: string, options: FailureOptions) {
    super(message, { cause: options.cause });
    this.permanent = options.permanent;
    this.ours = options.ours ?? false;
    this.attempts = options.attempts;
    this.stopped = options.stopped ?? false;
    this.log = options.log ?? '';
  }
}

/** What can be meant by what a tool says. */
const PERMANENT: FailureOptions = { permanent: true };
/** It may pass, but the file can bring it about as well: what happens twice is the file. */
const TWICE: FailureOptions = { permanent: false, attempts: 2 };

interface Explanation {
  pattern: RegExp;
  message: string;
  means: FailureOptions;
  /** Only where files are written. */
  writing?: true;
}

/** How many streams of a file the tools look at. */
export const MAX_STREAMS = 100;
const TOO_MANY_STREAMS = `The file holds more than ${MAX_STREAMS} streams, as no recording does.`;
export const ENCRYPTED = 'The file is encrypted. Export it without copy protection and send it again.';
export const NOTHING_FOLLOWS = 'The file is damaged: it has a header, but no sound or picture follows.';
const CONVERT = 'If a player plays it, convert it to MP4 (H.264 and AAC) and send that.';

/**
 * What lines of ffmpeg's log mean to a person; the first that matches counts. Its own words stay in the log. As that quotes
 * the file, which may hold anything, nothing in it is taken for a fault of ours.
 */
const EXPLANATIONS: readonly Explanation[] = [
  {
    pattern: /No space left on device|Disk quota exceeded/,
    message: 'The disk of the worker is full.',
    means: TWICE,
    writing: true,
  },
  {
    pattern: /Unknown encoder|Encoder not found|No such filter|Unrecognized option/,
    message: 'The installed ffmpeg lacks a part that is needed; it must be built with libx264.',
    means: TWICE,
    writing: true,
  },
  // Reported as a lack of memory, too.
  { pattern: /Number of streams exceeds max_streams/, message: TOO_MANY_STREAMS, means: PERMANENT },
  { pattern: /DRM protected stream/, message: ENCRYPTED, means: PERMANENT },
  {
    pattern: /moov atom not found/,
    message: 'The file is incomplete: its index is missing.',
    means: PERMANENT,
  },
  {
    pattern: /Picture size .* is invalid|image is too large|max_pixels/i,
    message: 'The picture is larger than can be processed.',
    means: PERMANENT,
  },
  {
    pattern: /Cannot allocate memory|Error allocating|malloc of size/,
    message: 'The file asks for more memory than there is. It is probably damaged.',
    means: TWICE,
  },
  // Said of damaged files, too.
  {
    pattern: /Input\/output error|Too many open files|Resource temporarily unavailable/,
    message: 'The file could not be read to its end. It is probably damaged.',
    means: TWICE,
  },
  {
    pattern: /: (?:No such file or directory|Permission denied)/,
    message: 'The worker could not open its files.',
    means: TWICE,
  },
  {
    pattern: /Decoder \(codec .*\) not found|Unknown decoder|Unsupported codec|unknown codec|codec none\)/i,
    message: `The file uses a codec that cannot be read here. ${CONVERT}`,
    means: PERMANENT,
  },
  {
    pattern: /Could not find codec parameters|Cannot determine format of input stream/,
    message: 'The file is damaged: a stream in it says nothing about its format.',
    means: PERMANENT,
  },
  { pattern: /: End of file$/m, message: NOTHING_FOLLOWS, means: PERMANENT },
  {
    pattern: /Invalid data found|Error while decoding|error reading|EBML header parsing failed|Error opening input/i,
    message: 'The file is damaged: it does not hold what its format promises.',
    means: PERMANENT,
  },
];

/** How a tool ended that did not succeed. */
export interface Ending {
  code: number | null;
  killedBy: NodeJS.Signals | null;
}

/** ffmpeg's exit code when a signal asked it to end. */
const ASKED_TO_END = 255;
/** What a shell and the dynamic linker end with when a program cannot be run or lacks a library. */
const CANNOT_RUN: readonly unknown[] = [126, 127];
/** Signals by which a process ends itself. */
const CRASHES: readonly string[] = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP'];
/** Signals by which a process is asked to end. */
const REQUESTS: readonly string[] = ['SIGTERM', 'SIGINT'];

/**
 * The failure of a tool that ended with an error by itself, or by a signal from outside.
 *
 * @param log the tail of its log, already without paths
 */
export function failureFromLog(tool: string, log: string, { code, killedBy }: Ending): MediaFailure {
  if (killedBy || code === ASKED_TO_END) {
    const lines = [log, `${tool} was ended by ${killedBy ?? 'a signal'}`].filter(Boolean).join('\n');
    return endedBySignal(killedBy, lines);
  }
  if (CANNOT_RUN.includes(code)) return notStarted(tool, { log });
  const known = EXPLANATIONS.find(({ pattern, writing }) => pattern.test(log) && (!writing || tool !== 'ffprobe'));
  if (known) return new MediaFailure(known.message, { ...known.means, log });
  return new MediaFailure(`The file cannot be read: it is damaged or unusual. ${CONVERT}`, {
    ...PERMANENT,
    log,
  });
}

/** @param tool the name of its program */
export function notStarted(tool: string, why: Pick<FailureOptions, 'log' | 'cause'>): MediaFailure {
  return new MediaFailure(`${tool} could not be started.`, { permanent: false, ours: true, ...why });
}

/** What can be meant by the signal that ended a program; null where one asked it to end, and it does not say which. */
export function meaningOf(signal: NodeJS.Signals | null): FailureOptions {
  if (signal && CRASHES.includes(signal)) return TWICE;
  return { permanent: false, stopped: signal === null || REQUESTS.includes(signal) };
}

function endedBySignal(signal: NodeJS.Signals | null, log: string): MediaFailure {
  const means = { ...meaningOf(signal), log };
  if (signal && CRASHES.includes(signal)) {
    const message = 'The file made the program that reads it crash. It is probably damaged.';
    return new MediaFailure(message, means);
  }
  // The system does that when memory runs out, which others may have brought about.
  if (signal === 'SIGKILL') {
    const message =
      'The processing of the file was ended from outside, as happens when the memory of the machine runs out.';
    return new MediaFailure(message, means);
  }
  return new MediaFailure('The processing of the file was ended from outside.', means);
}
