/** Lets everything fail at random under a trickle of uploads, and looks what is left: `npm run soak -- --help`. */
import { setTimeout as pause } from 'node:timers/promises';
import { explain } from '../../src/cli/failure.ts';
import { Cleanup, cleanUpOnSignals } from '../bench/support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { bringAbout, faultsOf, planFaults } from './faults.ts';
import { parseOptions, type SoakOptions, USAGE, UsageError } from './options.ts';
import { Random } from './random.ts';
import { describeUploads, describeVitals } from './report.ts';
import { Trickle } from './uploads.ts';
import { type Finding, judge, judgeVitals } from './verdict.ts';
import { vitalsOf } from './vitals.ts';
import { createWorld, type World } from './world.ts';

/** Uploads of each kind before the first look at the processes and after the last fault: caches fill, code is compiled. */
const ROUNDS = 3;
const SETTLED_MS = 120_000;
const REST_MS = 20_000;
/** Faults that are told of one finding. */
const SHOWN = 12;

const cleanup = new Cleanup();
cleanUpOnSignals(cleanup);
try {
  const options = parseOptions(process.argv.slice(2));
  if (options) process.exitCode = (await soak(options)) ? 0 : 1;
  else console.log(USAGE);
} catch (error) {
  if (!cleanup.begun) console.error(error instanceof UsageError ? error.message : explain(error));
  process.exitCode = 1;
} finally {
  await cleanup.run();
}

/** @returns whether everything held */
async function soak(options: SoakOptions): Promise<boolean> {
  const { minutes, seed, runtime, queue, storage } = options;
  console.log(
    `--seed ${seed} --minutes ${minutes} --runtime ${runtime} --queue ${queue} --storage ${storage}`,
  );
  const world = await createWorld(options, cleanup);
  await world.ready();
  const say = clock();
  if (!world.workDisk) say('the disk of the workers is never full: only root can give them one of their own');

  const trickle = new Trickle(world.url, new Random(seed));
  await trickle.prepare();
  const round = async () => {
    for (let i = 0; i < ROUNDS; i += 1) await trickle.oneOfEach();
  };
  await round();
  await settled(world);
  const names = world.processes.map(({ name }) => name);
  const pids = () => world.processes.map(({ pid }) => pid);
  const before = await vitalsOf(pids());

  const faults = faultsOf(world).filter(
    ({ name }) => options.only.length === 0 || options.only.includes(name),
  );
  const plan = planFaults(faults, new Random(seed), minutes * 60);
  say(`${plan.length} faults in ${minutes} minutes`);
  const stop = new AbortController();
  const uploading = trickle.run(stop.signal);
  await bringAbout(plan, say);
  stop.abort();
  say('everything is mended');
  await uploading;

  await world.ready().catch(() => undefined);
  await round();
  const findings = await judge(world, trickle);
  await settled(world);
  const after = await vitalsOf(pids());
  findings.push(judgeVitals(names, before, after));

  console.log(`\n${describeUploads(trickle.uploads)}\n\n${describeVitals(world.processes, before, after)}\n`);
  for (const finding of findings) tell(finding);
  return findings.every(({ faults }) => faults.length === 0);
}

/** Waits until everything is published, and then for what is cleared away behind it. */
async function settled({ database }: World): Promise<void> {
  await eventually(
    async () => {
      const open = database
        .selectFrom('events')
        .select('id')
        .where('processing_state', 'in', ['INSTANTIATED', 'RUNNING']);
      if ((await open.execute()).length > 0)
        throw new Error('Not everything that was uploaded has been processed.');
    },
    SETTLED_MS,
    500,
  ).catch(() => undefined);
  await pause(REST_MS);
}

/** Says what happens when. */
function clock(): (text: string) => void {
  const started = performance.now();
  return (text) =>
    console.log(`${String(Math.round((performance.now() - started) / 1000)).padStart(5)} s  ${text}`);
}

function tell({ what, faults }: Finding): void {
  console.log(`${faults.length === 0 ? 'holds ' : 'BROKEN'}  ${what}`);
  for (const fault of faults.slice(0, SHOWN)) console.log(`        ${fault}`);
  if (faults.length > SHOWN) console.log(`        and ${faults.length - SHOWN} more`);
}
