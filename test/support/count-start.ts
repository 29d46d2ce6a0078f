import { appendFileSync } from 'node:fs';

/** Counts a process of the product that a test starts; the run prints how many there were. */
export function countStart(): void {
  const { TEST_STARTED } = process.env;
  if (TEST_STARTED) appendFileSync(TEST_STARTED, 'one\n');
}
