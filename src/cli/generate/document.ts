import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REFERENCE } from '#app/routes.ts';
import { buildDocument } from '#openapi/document.ts';
import { CommandError } from '../failure.ts';

const TARGET = 'src/openapi/openapi.json';

/**
 * Writes the OpenAPI document that the schemas and the declared endpoints make.
 *
 * @param verify change nothing, and fail when it would differ
 */
export async function generateDocument(project: string, verify: boolean): Promise<void> {
  const path = join(project, TARGET);
  const text = `${JSON.stringify(buildDocument(REFERENCE), null, 2)}\n`;
  if (!verify) return writeFile(path, text);
  const present = await readFile(path, 'utf8').catch(() => '');
  if (present !== text) {
    throw new CommandError(`${TARGET} is not what the schemas make; run npm run generate.`);
  }
}
