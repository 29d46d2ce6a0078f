import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { CommandError } from '../failure.ts';

/** What a command gets from its terminal. */
export interface Terminal {
  environment: NodeJS.ProcessEnv;
  /** Aborted when somebody interrupts it. */
  signal: AbortSignal;
  /** Results; one line each. */
  print(line: string): void;
  /** Progress and complaints: a terminal, or a file that somebody reads later. */
  screen: NodeJS.WriteStream;
}

/** A command of `npm run inlet`. */
export interface Command {
  /** Arguments and options, and what each does. */
  usage: string;
  /** @returns the exit code: 0 only when all is well. @throws {CommandError} */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

/** Splits arguments into options and others. @throws {CommandError} with the usage, naming what is wrong */
export function splitArguments<T extends ParseArgsOptionsConfig>(args: readonly string[], options: T, usage: string) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw wrongArguments(error instanceof Error ? error.message : String(error), usage);
  }
}

/** @returns what to throw for arguments that are wrong */
export function wrongArguments(message: string, usage: string): CommandError {
  return new CommandError(`${message}\n\n${usage}`);
}

/** Refuses arguments that mean nothing. @throws {CommandError} */
export function noMore(positionals: readonly string[], usage: string): void {
  const [surplus] = positionals;
  if (surplus !== undefined) throw wrongArguments(`"${surplus}" is one argument too many.`, usage);
}
