import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The identifier of the workflow that recordings are sent for. */
export const WORKFLOW = 'soak';
/** As the usual one, but for time limits that a soak can wait for: a tool that hangs is to be found hanging. */
const OPERATIONS = ['inspect', 'cut', 'encode', 'preview', 'captions', 'publish'];

/** @returns a folder with the workflow */
export function writeWorkflow(folder: string): string {
  const path = join(folder, 'workflows');
  mkdirSync(path);
  const operations = OPERATIONS.map((operation) => `  - operation: ${operation}\n    retries: 8\n    time_limit: 3m\n`);
  writeFileSync(join(path, 'soak.yaml'), `id: ${WORKFLOW}\ntitle: Soak\noperations:\n${operations.join('')}`);
  return path;
}
