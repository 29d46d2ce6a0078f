import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#test/support/folders.ts';
import { compileFirst } from './compile-first.ts';

test('a role is compiled once for each version, with what it loads later, and not started', async () => {
  const folder = await temporaryFolder();
  // Without settings, a role that started would fail.
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: folder, DATABASE_URL: 'invalid' };
  const compile = () => compileFirst('api', { program: process.execPath, args: ['src/api.ts'], folder, env });
  const compiled = () => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  compile();
  const [cache, ...others] = compiled();
  expect(others).toEqual([]);
  expect(readdirSync(join(folder, cache?.name ?? '')).length).toBeGreaterThan(500);
  rmSync(join(folder, cache?.name ?? ''), { recursive: true });
  compile();
  expect(compiled()).toEqual([]);
});
