import type { Trouble } from '../world/tools.ts';

/** How a client sends its recording. */
export type Manner =
  | 'at once'
  | 'slowly'
  | 'in crumbs'
  | 'not to its end'
  /** By tus, in pieces, with a way back after each fault. */
  | 'resumably'
  /** As a capture agent, which sends again what was not answered. */
  | 'as an agent';

/** A recording of known length. */
export interface Recording {
  filename: string;
  /** In milliseconds. */
  duration: number;
  bytes: Buffer;
  /** What it makes the tools do; it has to fail. */
  trouble?: Trouble;
}

/** What became of an upload. */
export interface Upload {
  title: string;
  manner: Manner;
  recording: Recording;
  /** The status; undefined when there was no answer. */
  status: number | undefined;
  /** Of the event, when it was accepted. */
  id: string | undefined;
  /** The sentence of a refusal. */
  sentence: string;
  /** How long the client waited for the last answer, in milliseconds. */
  tookMs: number;
  /** How often it was sent. */
  tries: number;
}

/** The part of an upload that its sending finds out. */
export type Outcome = Pick<Upload, 'status' | 'id' | 'sentence' | 'tookMs' | 'tries'>;
