import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { EmbeddedPaths } from './paths.ts';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';

/** What a keeper says about the server it keeps. */
export type KeeperPhase =
  | { phase: 'starting' }
  | { phase: 'ready'; port: number }
  | { phase: 'stopping' }
  | { phase: 'failed'; reason: string };

export type KeeperState = ProcessIdentity & KeeperPhase;

/** Says it for this process. */
export function writeKeeperState(paths: EmbeddedPaths, phase: KeeperPhase): void {
  const state: KeeperState = { pid: process.pid, started: identify(process.pid)?.started ?? '0', ...phase };
  const temporary = `${paths.keeper}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(state));
  renameSync(temporary, paths.keeper);
}

/** The last word of the last keeper, who may be dead. */
export function readKeeperState(paths: EmbeddedPaths): (KeeperState & { alive: boolean }) | undefined {
  try {
    const state = JSON.parse(readFileSync(paths.keeper, 'utf8')) as KeeperState;
    return { ...state, alive: isAlive(state) };
  } catch {
    return undefined;
  }
}
