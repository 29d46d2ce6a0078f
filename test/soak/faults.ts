import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestProxy } from '../support/proxy.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Something that goes wrong for a while. */
export interface Fault {
  name: string;
  /** What it happens to; one thing at a time happens to each. */
  target: string;
  begin(): unknown;
  /** Mends it. Absent for what is over as soon as it has happened. */
  end?(): unknown;
}

/** A fault at its time, in seconds from the start. */
export interface PlannedFault {
  fault: Fault;
  at: number;
  seconds: number;
}

const PAUSE_SECONDS = [2, 12] as const;
const FAULT_SECONDS = [5, 90] as const;
/** The share of a run that one fault may last. */
const SHARE = 0.3;

/** Everything that can go wrong in this world. */
export function faultsOf(world: World): Fault[] {
  return [
    ...Object.entries(world.proxies).flatMap(([target, proxy]) => connectionFaults(target, proxy)),
    ...Object.entries(world.servers).map(([target, pids]) => stopped(target, pids)),
    ...(world.s3 ? storageFaults(world.s3) : []),
    ...world.processes.flatMap((process): Fault[] => [
      { name: `${process.name} is killed`, target: process.name, begin: () => process.kill() },
      { name: `${process.name} is restarted`, target: process.name, begin: () => process.restart() },
      {
        name: `the log of ${process.name} is not read`,
        target: process.name,
        begin: () => process.holdLog(),
        end: () => process.releaseLog(),
      },
      { name: `the log of ${process.name} is closed`, target: process.name, begin: () => process.closeLog() },
    ]),
    ...(world.workDisk ? [fullDisk(world.workDisk)] : []),
  ];
}

function connectionFaults(target: string, proxy: TestProxy): Fault[] {
  const fault = (what: string, begin: () => unknown): Fault => ({
    name: `connections to ${target} ${what}`,
    target,
    begin,
    end: () => proxy.join(),
  });
  return [
    fault('are refused', () => proxy.part()),
    fault('go silent', () => proxy.silence()),
    fault('are reset', () => proxy.hangUp()),
    fault('are lost', () => proxy.lose()),
  ];
}

function stopped(target: string, pids: () => number[]): Fault {
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids()) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended since.
      }
    }
  };
  return {
    name: `${target} stands still`,
    target,
    begin: () => signal('SIGSTOP'),
    end: () => signal('SIGCONT'),
  };
}

function storageFaults(s3: NonNullable<World['s3']>): Fault[] {
  return [
    { name: 's3 refuses', target: 's3', begin: () => s3.refuse(), end: () => s3.accept() },
    { name: 's3 stands still', target: 's3', begin: () => s3.pause(), end: () => s3.resume() },
    { name: 's3 is killed', target: 's3', begin: () => s3.kill(), end: () => s3.restart() },
  ];
}

function fullDisk(folder: string): Fault {
  const filler = join(folder, 'filler');
  return {
    name: 'the disk of the workers is full',
    target: 'disk',
    begin: async () => {
      const { bavail, bsize } = await statfs(folder);
      await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(() => undefined);
    },
    end: () => rm(filler, { force: true }),
  };
}

/** What goes wrong when: two things at once at most, and not both to the same part. */
export function planFaults(faults: readonly Fault[], random: Random, seconds: number): PlannedFault[] {
  const longest = Math.min(FAULT_SECONDS[1], Math.max(FAULT_SECONDS[0], seconds * SHARE));
  const plan: PlannedFault[] = [];
  for (const first of [random.between(...PAUSE_SECONDS), random.between(...PAUSE_SECONDS) + longest / 2]) {
    for (let at = first; at < seconds; ) {
      const length = random.between(FAULT_SECONDS[0], longest);
      const fault = random.of(faults);
      const lasts = fault.end ? Math.min(length, seconds - at) : 0;
      const busy = plan.some(
        (other) =>
          other.fault.target === fault.target && other.at <= at + lasts && at <= other.at + other.seconds,
      );
      if (!busy) plan.push({ fault, at, seconds: lasts });
      at += lasts + random.between(...PAUSE_SECONDS);
    }
  }
  return plan.sort((a, b) => a.at - b.at);
}

/** Lets everything go wrong as planned; all is mended when it settles. */
export async function bringAbout(plan: readonly PlannedFault[], say: (text: string) => void): Promise<void> {
  await Promise.all(
    plan.map(async ({ fault, at, seconds }) => {
      await pause(at * 1000);
      say(fault.end ? `${fault.name} for ${Math.round(seconds)} s` : fault.name);
      await fault.begin();
      await pause(seconds * 1000);
      await fault.end?.();
    }),
  );
}
