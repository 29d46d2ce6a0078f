import { badRequest } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';

/** The maximum length of the name of an agent or input. */
export const MAX_NAME = 255;
/** The property with the input names, separated by commas. */
export const INPUTS = 'capture.device.names';
const VISIBLE = /^(?!\s*$)[^\p{Cc}\p{Cs}]+$/u;

/** True for a valid name of an agent or input: not blank, without control characters. */
export function isName(text: string): boolean {
  return text.length <= 2 * MAX_NAME && [...text].length <= MAX_NAME && VISIBLE.test(text);
}

/** Returns the distinct names in `capture.device.names`, without validation. */
export function inputsIn(text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}

/** Rejects unknown agents with a slash: such agents must report before recordings can be scheduled on them. */
export function requireSchedulable(agentId: string, isKnown: boolean): void {
  if (isKnown || !agentId.includes('/')) return;
  throw badRequest(
    `Unable to parse device: the value of 'agent_id' is ${quoted(agentId)}; the capture agent is not known, and the name of a new one must not contain slashes`,
  );
}
