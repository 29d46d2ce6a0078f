/**
 * Part of `npm run check`: platform knows no feature, not by name either. What it may not name is read from the tree:
 * the features' folders and the tables; beside them the first words of the paths that are served.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError, explain } from '../../src/cli/failure.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const PLATFORM = 'src/platform';
/** Parts that are no features, and words that the platform uses in a sense of its own. */
const INNOCENT = ['app', 'cli', 'openapi', 'platform', 'access', 'metadata', 'statistics', 'pages', 'processing'];
/** Settings and figures of the whole product. */
const WHOLE_PRODUCT = ['config', 'telemetry'];
/** Tables of the platform itself. */
const OWN_TABLES = ['staging'];
/** Generated from all tables. */
const GENERATED = ['src/platform/database/schema.ts'];

try {
  const words = [...(await features()), ...(await tables())];
  const named = new RegExp(
    `(?<![\\w-])(${words.join('|')})(?![\\w-])|['"\`]/(api|admin|capture-admin|docs|health|publications|watch)\\b`,
  );
  const faults: string[] = [];
  for (const file of await platformFiles()) {
    const lines = withoutComments(await readFile(join(PROJECT, file), 'utf8')).split('\n');
    lines.forEach((line, i) => {
      const [word] = line.replaceAll(/'node:[a-z/]+'/g, '').match(named) ?? [];
      if (word) faults.push(`${file}:${i + 1} names ${word.replace(/^['"`]/, '')}`);
    });
  }
  if (faults.length > 0) {
    throw new CommandError(`${PLATFORM} may name no feature:\n${faults.join('\n')}`);
  }
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}

async function features(): Promise<string[]> {
  const rooms = await readdir(join(PROJECT, 'src'), { withFileTypes: true });
  return rooms.filter((room) => room.isDirectory() && !INNOCENT.includes(room.name)).map(({ name }) => name);
}

async function tables(): Promise<string[]> {
  const files = (await readdir(join(PROJECT, 'sql'))).filter((name) => name.endsWith('.sql'));
  const sql = await Promise.all(files.map((name) => readFile(join(PROJECT, 'sql', name), 'utf8')));
  const made = sql
    .join('\n')
    .matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g)
    .map(([, name = '']) => name);
  return [...new Set(made)].filter((name) => !OWN_TABLES.includes(name));
}

async function platformFiles(): Promise<string[]> {
  const names = await readdir(join(PROJECT, PLATFORM), { recursive: true });
  return names
    .map((name) => `${PLATFORM}/${name}`)
    .filter((file) => !WHOLE_PRODUCT.includes(file.split('/')[2] ?? ''))
    .filter((file) => /(?<!\.test)\.ts$/.test(file) && !GENERATED.includes(file))
    .sort();
}

/** The same lines without what is said to people. */
function withoutComments(source: string): string {
  const blank = (comment: string) => comment.replaceAll(/[^\n]/g, '');
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, blank).replaceAll(/(?<=^|\s)\/\/.*$/gm, blank);
}
