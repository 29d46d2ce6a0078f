import type { Cleanup } from '../bench/support/cleanup.ts';
import { faultsOf, killsOf } from './faults/all.ts';
import type { SoakOptions } from './options.ts';
import { bringAbout, countKinds, type Fault, planFaults, planKills } from './plan.ts';
import { Random } from './random.ts';
import { describeVitals } from './report/text.ts';
import { reportOf, type WorldReport } from './report/world.ts';
import { Trickle } from './uploads/trickle.ts';
import { judge } from './verdict/judge.ts';
import { isSuspect, judgeVitals } from './verdict/vitals.ts';
import { settled, watchBacklog } from './world/backlog.ts';
import type { WorldKind } from './world/kinds.ts';
import { vitalsOf } from './world/vitals.ts';
import { createWorld } from './world/world.ts';

/** Uploads of each kind before the first look at the processes and after the last fault: caches fill, code is compiled. */
const ROUNDS = 3;

/** Lets everything fail in a world for so many minutes, and looks what has become of it. */
export async function runWorld(
  kind: WorldKind,
  options: SoakOptions & { say: (text: string) => void },
  cleanup: Cleanup,
): Promise<WorldReport> {
  const { seed, minutes, only, say } = options;
  say(`world ${kind.name}, ${minutes} minutes`);
  const world = await createWorld(kind, options, cleanup);
  await world.ready();
  if (!world.disks.work) say('no disk is ever full: only root can give them some of their own, where it may mount');
  if (!world.clock) say('no clock is stepped: libfaketime is not installed');

  const trickle = new Trickle(world.urls, new Random(seed));
  await trickle.prepare();
  for (let i = 0; i < ROUNDS; i += 1) await trickle.oneOfEach();
  await settled(world);
  const pids = () => world.processes.map(({ pid }) => pid);
  const before = await vitalsOf(pids());

  const wanted = (fault: Fault) => only.length === 0 || only.includes(fault.name) || only.includes(fault.kind);
  const random = new Random(seed);
  const plan = [
    ...planFaults(faultsOf(world).filter(wanted), random, minutes * 60),
    ...planKills(killsOf(world).filter(wanted), random, minutes * 60),
  ];
  say(`${plan.length} faults`);
  const stop = new AbortController();
  const room = watchBacklog(world, stop.signal);
  const uploading = Promise.all([trickle.troubles(), trickle.run(stop.signal, room)]);
  await bringAbout(plan, say);
  stop.abort();
  say('everything is mended');
  await uploading;

  await world.ready().catch(() => undefined);
  for (let i = 0; i < ROUNDS; i += 1) await trickle.oneOfEach();
  const findings = await judge(world, trickle.uploads);
  await settled(world);
  const looks = [before, await vitalsOf(pids())];
  if (looks[1]?.some((now, i) => before[i] && isSuspect(before[i], now))) {
    say('a process has grown; whether it grows on is seen after further uploads');
    for (let i = 0; i < ROUNDS; i += 1) await trickle.oneOfEach();
    await settled(world);
    looks.push(await vitalsOf(pids()));
  }
  const names = world.processes.map(({ name }) => name);
  findings.push(judgeVitals(names, looks));
  console.log(`\n${describeVitals(world.processes, before, looks.at(-1) ?? [])}\n`);
  return reportOf(world, { uploads: trickle.uploads, faults: countKinds(plan), findings, seed, minutes });
}
