import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { tierOf } from './tiers.ts';

const ROOT = new URL('../', import.meta.url);
/** The sections of the contract that say what the API does; 6 says nothing. */
const SECTIONS = [
  ...['2.1', '2.2', '2.3', '2.4', '2.5', '2.6', '2.7', '2.8', '2.9', '2.10', '2.11', '3'],
  ...['4.1', '4.2', '4.3', '4.4', '4.5', '4.6', '4.7', '4.8', '4.9', '5', '7', '8', '9'],
];

const read = (path: string) => readFile(fileURLToPath(new URL(path, ROOT)), 'utf8');

/** The rows of the tables: the first cell, the file, the name of the test and its tier. */
async function rows() {
  const rows = [...(await read('docs/contract.md')).matchAll(/^\| (.+?) \|.* `([^`]+)` \| `(.+)` \| (\w+) \|$/gm)];
  return rows.map(([, first = '', file = '', name = '', tier = '']) => ({ first, file, name, tier }));
}

/** Titles of tests and groups, as the source has them. */
function titlesIn(source: string): Set<string> {
  const titles = source.matchAll(/(?:\b(?:test|describe)\(|\)\()\s*(['"`])((?:\\.|(?!\1).)*)\1/gs);
  return new Set([...titles].map(([, , title = '']) => title.replace(/\\(.)/g, '$1')));
}

test('every test that the table of the contract names exists, in the tier that it names', async () => {
  const named = await rows();
  expect(named.length).toBeGreaterThan(400);
  for (const { file, tier } of named) expect([file, tier]).toEqual([file, tierOf(file)]);
  const missing: string[] = [];
  for (const { file, name } of named) {
    const titles = titlesIn(await read(file));
    if (!name.split(' > ').every((title) => titles.has(title))) missing.push(`${file}: ${name}`);
  }
  expect(missing).toEqual([]);
});

test('the table has every section of the contract', async () => {
  const listed = new Set((await rows()).map(({ first }) => first));
  expect(SECTIONS.filter((section) => !listed.has(section))).toEqual([]);
});
