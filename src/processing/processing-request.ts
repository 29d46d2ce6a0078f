import { refusal } from '#platform/http/errors/errors.ts';
import { parseHeights } from '#platform/media/ladder.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { tryParseJson } from '#platform/text/json.ts';
import { Processing as ProcessingRequest } from './processing.schemas.ts';
import { INVALID_CONFIGURATION, INVALID_HEIGHTS } from './workflow-refusals.ts';

export const UNPARSABLE_PROCESSING = refusal(400, 'Unable to parse processing configuration');

/** The workflow to run, and its configuration. */
export interface Processing {
  /** Empty when none was named. */
  workflow: string;
  configuration: Record<string, string>;
}

/** A missing workflow is refused later, with its own sentence. */
const Schema = ProcessingRequest.extend({ workflow: ProcessingRequest.shape.workflow.catch('') });

/** Parses the `processing` part: `{"workflow": id, "configuration": {key: value}}`. @throws {HttpError} 400 */
export function parseProcessing(text: string): Processing {
  const parsed = Schema.safeParse(tryParseJson(text));
  if (!parsed.success) throw UNPARSABLE_PROCESSING();
  const { workflow, configuration } = parsed.data;
  return { workflow, configuration: checkConfiguration(configuration ?? {}) };
}

/** Parses the form field `configuration`: a JSON object of values by key. @throws {HttpError} 400 */
export function parseConfiguration(text: string | undefined): Record<string, string> | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = tryParseJson(text);
  const parsed = ProcessingRequest.shape.configuration.safeParse(value);
  if (value === undefined || !parsed.success) throw INVALID_CONFIGURATION();
  return checkConfiguration(parsed.data ?? {});
}

/** Checks the keys with a meaning in every workflow. @throws {HttpError} 400 */
export function checkConfiguration(configuration: Record<string, string>): Record<string, string> {
  const { heights } = configuration;
  if (heights && !parseHeights(heights)) throw INVALID_HEIGHTS(excerpt(heights, 100));
  return configuration;
}
