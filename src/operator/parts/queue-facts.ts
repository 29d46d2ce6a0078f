import { LANES, type Lane, type WorkQueue } from '../../queue/port.ts';

/** Lanes whose queue was paused itself, past the settings of lanes: whoever has the dashboard can. */
export async function pausedQueues(queue: WorkQueue): Promise<Lane[]> {
  await queue.check();
  const paused = await Promise.all(queue.queues().map((each) => each.isPaused()));
  return LANES.filter((_, i) => paused[i]);
}

/** What waits in the queue of each lane. */
export async function queueFacts(queue: WorkQueue) {
  const [paused, counts] = await Promise.all([
    pausedQueues(queue),
    Promise.all(queue.queues().map((each) => each.getWaitingCount())),
  ]);
  const jobs = Object.fromEntries(LANES.map((lane, i) => [lane, counts[i] ?? 0]));
  return { kind: queue.kind, jobs, paused };
}
