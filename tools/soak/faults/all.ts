import type { Fault } from '../plan.ts';
import type { World } from '../world/world.ts';
import { connectionFaults, stopped } from './connections.ts';
import { databaseFaults } from './database.ts';
import { fullDisk } from './disks.ts';
import { clockSteps, kill, processFaults } from './processes.ts';
import { redisFaults } from './redis.ts';
import { storageFaults } from './storage.ts';

/** Everything that can go wrong in this world. */
export function faultsOf(world: World): Fault[] {
  return [
    ...Object.entries(world.proxies).flatMap(([target, proxy]) => connectionFaults(target, proxy)),
    ...Object.entries(world.servers).map(([target, pids]) => stopped(target, pids)),
    ...databaseFaults(world.postgres),
    ...(world.redis ? redisFaults(world.redis) : []),
    ...(world.s3 && world.between ? storageFaults(world.s3, world.between) : []),
    ...world.processes.flatMap(processFaults),
    ...(world.clock ? clockSteps(world.clock) : []),
    ...Object.entries(world.disks).map(([name, folder]) => fullDisk(name, folder)),
  ];
}

/** The kills, which come in a row of their own. */
export function killsOf({ processes }: World): Fault[] {
  return processes.map(kill);
}
