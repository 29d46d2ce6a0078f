/** Lets everything fail at random under a trickle of uploads, and looks what is left: `npm run soak -- --help`. */
import { writeFile } from 'node:fs/promises';
import { explain } from '../../src/cli/failure.ts';
import { Cleanup, cleanUpOnSignals } from '../bench/support/cleanup.ts';
import { parseOptions, type SoakOptions, USAGE, UsageError } from './options.ts';
import { markdownOf } from './report/markdown.ts';
import { describeWorld } from './report/text.ts';
import type { WorldReport } from './report/world.ts';
import { runWorld } from './run-world.ts';
import { rehearse } from './upgrade/rehearse.ts';
import { chooseWorlds } from './world/kinds.ts';

const cleanup = new Cleanup();
cleanUpOnSignals(cleanup);
try {
  const options = parseOptions(process.argv.slice(2));
  if (!options) console.log(USAGE);
  else if (options.upgrade) process.exitCode = (await rehearse(options, clock(), cleanup)) ? 0 : 1;
  else process.exitCode = (await soak(options)) ? 0 : 1;
} catch (error) {
  if (!cleanup.begun) console.error(error instanceof UsageError ? error.message : explain(error));
  process.exitCode = 1;
} finally {
  await cleanup.run();
}

/** @returns whether everything held */
async function soak(options: SoakOptions): Promise<boolean> {
  const { minutes, seed, json, markdown } = options;
  const worlds = chooseWorlds(options.worlds, minutes, seed);
  console.log(`--seed ${seed} --minutes ${minutes}: ${worlds.map(({ name }) => name).join('; ')}`);
  const say = clock();
  const reports: WorldReport[] = [];
  for (const kind of worlds) {
    const own = new Cleanup();
    const end = cleanup.add(() => own.run());
    const report = await runWorld(kind, { ...options, minutes: minutes / worlds.length, say }, own);
    console.log(`${describeWorld(report)}\n`);
    reports.push(report);
    await writeFile(json, `${JSON.stringify({ seed, minutes, reports }, undefined, 2)}\n`);
    await end();
  }
  if (markdown) console.log(`${markdownOf(reports)}\n`);
  const clean = reports.every((report) => report.clean);
  console.log(clean ? 'clean' : `not clean; --seed ${seed} repeats the faults`);
  return clean;
}

/** Says of what happens when it did. */
function clock(): (text: string) => void {
  const started = performance.now();
  return (text) => console.log(`${String(Math.round((performance.now() - started) / 1000)).padStart(5)} s  ${text}`);
}
