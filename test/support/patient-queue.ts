import type { TestApp } from './app.ts';
import { eventually } from './eventually.ts';

/** Lets the queue of an application take its time to answer: it has two seconds, which a busy machine may take. */
export function patientQueue({ context: { queue } }: TestApp): void {
  const check = queue.check.bind(queue);
  queue.check = () => eventually(check);
}
