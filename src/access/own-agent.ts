import { refusal } from '#platform/http/errors/refusal.ts';
import type { Principal } from './principal.ts';

export const OTHER_AGENT = refusal(
  403,
  (agentId: string) => `This account is for the capture agent '${agentId}' alone.`,
  ['room-2'],
);

/** The one capture agent that somebody may speak for; undefined where roles alone decide. */
export function boundAgent(principal: Principal): string | undefined {
  return principal.agentId;
}

/**
 * Keeps an account that was made for one capture agent from doing anything for another one.
 *
 * @throws {HttpError} 403
 */
export function requireOwnAgent(principal: Principal, agentId: string): void {
  const own = boundAgent(principal);
  if (own !== undefined && own !== agentId) throw OTHER_AGENT(own);
}
