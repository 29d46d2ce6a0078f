import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { denoProgram } from '../../../src/cli/runtime.ts';
import { locateTools } from '../../../src/platform/media/tools/locate-tools.ts';
import type { Bench } from './bench.ts';

/** What the figures depend on besides Inlet. */
export interface Machine {
  date: string;
  system: string;
  processor: string;
  cores: number;
  memoryGib: number;
  runtime: string;
  node: string;
  ffmpeg: string;
  services: Record<string, string>;
}

export async function describeMachine({ runtime, config, services }: Bench): Promise<Machine> {
  const { ffmpeg } = await locateTools(config);
  return {
    date: new Date().toISOString(),
    system: `${platform()} ${release()}`,
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    runtime: runtime === 'deno' ? firstLine(denoProgram(), '--version') : `node ${process.version}`,
    node: process.version,
    ffmpeg: firstLine(ffmpeg, '-version'),
    services,
  };
}

export function machineText(machine: Machine): string {
  const { cores, processor, memoryGib, system, runtime, ffmpeg, services } = machine;
  return [
    `${cores} cores (${processor}), ${memoryGib} GiB, ${system}`,
    `${runtime}; ${ffmpeg.replace(/ Copyright.*/, '')}`,
    Object.entries(services)
      .map(([part, version]) => `${part}: ${version}`)
      .join('; '),
  ].join('\n');
}

function firstLine(program: string, argument: string): string {
  return execFileSync(program, [argument], { encoding: 'utf8' }).split('\n', 1)[0] ?? '';
}
