import { badRequest } from '../http/errors.ts';

/** Which workflow to run, and with which values. */
export interface Processing {
  /** Empty when none was named. */
  workflow: string;
  configuration: Record<string, string>;
}

const UNPARSABLE = 'Unable to parse processing configuration';

/** Reads the `processing` part: `{"workflow": id, "configuration": {key: value}}`. @throws {HttpError} 400 */
export function parseProcessing(text: string): Processing {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw badRequest(UNPARSABLE);
  }
  if (!isObject(json)) throw badRequest(UNPARSABLE);
  const { workflow, configuration = {} } = json;
  if (!isObject(configuration)) throw badRequest(UNPARSABLE);
  const values: Record<string, string> = {};
  for (const [key, value] of Object.entries(configuration)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (`${key}${text}`.includes('\0')) throw badRequest(UNPARSABLE);
    values[key.toWellFormed()] = text.toWellFormed();
  }
  return { workflow: typeof workflow === 'string' ? workflow.trim() : '', configuration: values };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
