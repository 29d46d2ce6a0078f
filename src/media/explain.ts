import { MediaFailure } from './failure.ts';

interface Explanation {
  pattern: RegExp;
  message: string;
  permanent: boolean;
  /** Something of ours is at fault; patterns that a file could bring about must not say so. */
  ours?: true;
}

/** What lines of ffmpeg's log mean to a person; the first that matches counts. */
const EXPLANATIONS: readonly Explanation[] = [
  {
    pattern: /No space left on device|Disk quota exceeded/,
    message: 'The disk of the worker is full.',
    permanent: false,
    ours: true,
  },
  {
    pattern: /Cannot allocate memory|Error allocating|malloc of size/,
    message: 'The worker ran out of memory.',
    permanent: false,
  },
  {
    pattern: /Input\/output error|Too many open files|Resource temporarily unavailable/,
    message: 'The worker could not read or write its files.',
    permanent: false,
  },
  {
    pattern: /: (?:No such file or directory|Permission denied)/,
    message: 'The worker could not open its files.',
    permanent: false,
  },
  {
    pattern: /moov atom not found/,
    message: 'The file is incomplete: its index is missing.',
    permanent: true,
  },
  {
    pattern: /Decoder \(codec .*\) not found|Unknown decoder|Unsupported codec|unknown codec|codec none\)/i,
    message: 'The file uses a codec that the installed ffmpeg cannot read.',
    permanent: true,
  },
  {
    pattern: /Could not find codec parameters/,
    message: 'The file is damaged: a stream in it says nothing about its format.',
    permanent: true,
  },
  {
    pattern: /Picture size .* is invalid|image is too large|max_pixels/i,
    message: 'The picture is larger than can be processed.',
    permanent: true,
  },
  {
    pattern: /Unknown encoder|Encoder not found|No such filter|Unrecognized option/,
    message: 'The installed ffmpeg lacks a part that is needed; it must be built with libx264.',
    permanent: false,
    ours: true,
  },
  {
    pattern:
      /Invalid data found|Error while decoding|error reading|EBML header parsing failed|Error opening input/i,
    message: 'The file is damaged: it does not hold what its format promises.',
    permanent: true,
  },
];

/** How a tool ended that did not succeed. */
export interface Ending {
  code: number | null;
  killedBy: NodeJS.Signals | null;
}

/** ffmpeg's exit code when a signal asked it to end. */
const ASKED_TO_END = 255;
/** Signals by which a process ends itself. */
const CRASHES: readonly (string | null)[] = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP'];

/**
 * The failure of a tool that ended with an error by itself, or by a signal from outside.
 *
 * @param log the tail of its log, already without paths
 */
export function failureFromLog(tool: string, log: string, { code, killedBy }: Ending): MediaFailure {
  if (CRASHES.includes(killedBy)) {
    return new MediaFailure(`${tool} crashed while it read the file (${killedBy}).`, {
      permanent: true,
      log,
    });
  }
  if (killedBy || code === ASKED_TO_END) {
    const how = killedBy ? ` (${killedBy})` : '';
    return new MediaFailure(`${tool} was ended from outside${how}.`, { permanent: false, log });
  }
  const known = EXPLANATIONS.find(({ pattern }) => pattern.test(log));
  if (known)
    return new MediaFailure(known.message, { permanent: known.permanent, ours: known.ours ?? false, log });
  const message = `The file cannot be processed: ${lastWords(log) || `${tool} failed`}.`;
  return new MediaFailure(message, { permanent: true, log });
}

/** The last line of the log that says something, as the end of a sentence. */
function lastWords(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '' && !/^Conversion failed/.test(line));
  return (lines.at(-1) ?? '').replace(/^\s*\[[^\]]*\]\s*/, '').replace(/[.!\s]+$/, '');
}
