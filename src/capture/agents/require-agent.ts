import { badRequest } from '#platform/http/errors/errors.ts';
import { quoted } from './names.ts';

/**
 * Refuses an agent that nothing can be scheduled on. Scheduling makes unknown ones known, but none with a slash: only
 * those that report themselves may hold some.
 *
 * @param agentId as scheduling information may hold it
 * @throws {HttpError} 400
 */
export function requireSchedulable(agentId: string, isKnown: boolean): void {
  if (isKnown || !agentId.includes('/')) return;
  throw badRequest(
    `Unable to parse device: the value of 'agent_id' is ${quoted(agentId)}; no capture agent of that name is known, and allowed for a new one is a name without slashes`,
  );
}
