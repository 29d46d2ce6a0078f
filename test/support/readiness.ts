import { expect } from 'vitest';
import { eventually } from './eventually.ts';

const PATIENCE_MS = 60_000;

/**
 * Waits until a server tells so of its readiness and its parts. A part that works is not ready for the moment in which
 * it takes more than its two seconds, as a busy disk does.
 */
export function expectReadiness(
  { url }: { url: string },
  status: 200 | 503,
  parts: Record<string, string>,
): Promise<void> {
  return eventually(async () => {
    const answer = await fetch(`${url}/health/ready`);
    const said = { status: status === 200 ? 'ready' : 'unavailable', ...parts };
    expect([answer.status, await answer.json()]).toMatchObject([status, said]);
  }, PATIENCE_MS);
}

/** Asks again what is 503 because a part took more than its two seconds for once; any other answer counts. */
export function unlessBusy<Answer extends { status: number }>(ask: () => Promise<Answer>): Promise<Answer> {
  return eventually(async () => {
    const answer = await ask();
    expect(answer.status).not.toBe(503);
    return answer;
  }, PATIENCE_MS);
}
