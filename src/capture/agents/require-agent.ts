import { badRequest } from '#platform/http/errors/errors.ts';
import { quoted } from './names.ts';

/** Rejects unknown agents with a slash: such agents must report before recordings can be scheduled on them. */
export function requireSchedulable(agentId: string, isKnown: boolean): void {
  if (isKnown || !agentId.includes('/')) return;
  throw badRequest(
    `Unable to parse device: the value of 'agent_id' is ${quoted(agentId)}; the capture agent is not known, and the name of a new one must not contain slashes`,
  );
}
