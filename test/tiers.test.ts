import { execFileSync } from 'node:child_process';
import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { TIERS, tierOf } from './tiers.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const isIn = (path: string, globs: readonly string[]) => globs.some((glob) => matchesGlob(path, glob));
const files = execFileSync('git', ['ls-files', '*.test.ts'], { cwd: PROJECT, encoding: 'utf8' });

test('every test file is in exactly one tier', () => {
  const tiersOf = (path: string) =>
    Object.entries(TIERS)
      .filter(([, { include, exclude }]) => isIn(path, include) && !isIn(path, exclude))
      .map(([name]) => name);
  const tiers = files
    .trim()
    .split('\n')
    .map((path) => [path, tiersOf(path)] as const);
  expect(tiers.length).toBeGreaterThan(100);
  expect(tiers.filter(([, names]) => names.length !== 1)).toEqual([]);
  // Unit tests are part of the quick tier.
  const project = (name?: string) => (name === 'unit' ? 'quick' : name);
  expect(tiers.filter(([path, [name]]) => project(name) !== tierOf(path))).toEqual([]);
});
