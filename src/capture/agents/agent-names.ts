import { badRequest } from '#platform/http/errors/errors.ts';

/** The maximum length of the name of an agent or input. */
export const MAX_NAME = 255;
/** The property with the input names, separated by commas. */
export const INPUTS = 'capture.device.names';
const VISIBLE = /^(?!\s*$)[^\p{Cc}\p{Cs}]+$/u;
const MAX_SHOWN = 100;

/** True for a valid name of an agent or input: not blank, without control characters. */
export function isName(text: string): boolean {
  return text.length <= 2 * MAX_NAME && [...text].length <= MAX_NAME && VISIBLE.test(text);
}

/** Returns the distinct names in `capture.device.names`, without validation. */
export function inputsIn(text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}

/** Formats a received value for an error message, shortened; objects by type, as they may be nested too deeply. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_SHOWN));
  if (value === undefined) return 'missing';
  return typeof value === 'object' ? 'a list or an object' : String(value);
}

/** Rejects unknown agents with a slash: such agents must report before recordings can be scheduled on them. */
export function requireSchedulable(agentId: string, isKnown: boolean): void {
  if (isKnown || !agentId.includes('/')) return;
  throw badRequest(
    `Unable to parse device: the value of 'agent_id' is ${quoted(agentId)}; the capture agent is not known, and the name of a new one must not contain slashes`,
  );
}
