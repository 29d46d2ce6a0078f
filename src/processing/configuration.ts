import { Processing } from './processing.schemas.ts';
import { INVALID_CONFIGURATION } from './refusals.ts';

/** Parses the form field `configuration`: a JSON object of values by key. @throws {HttpError} 400 */
export function parseConfiguration(text: string | undefined): Record<string, string> | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw INVALID_CONFIGURATION();
  }
  const parsed = Processing.shape.configuration.safeParse(value);
  if (!parsed.success) throw INVALID_CONFIGURATION();
  return parsed.data ?? {};
}
