import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { folderForThisFile } from '#test/support/folders.ts';
import { argumentsOf, locateProgram, matchesFlavor, programsIn } from './site-program.ts';

const root = await folderForThisFile();
const folder = join(root, 'commands');
beforeAll(async () => {
  await mkdir(join(folder, 'deeper'), { recursive: true });
  for (const path of [join(folder, 'sound.sh'), join(root, 'outside.sh'), join(folder, 'deeper', 'in.sh')])
    await writeFile(path, '#!/bin/sh\n', { mode: 0o755 });
  await writeFile(join(folder, 'text.txt'), 'x');
  await symlink(join(root, 'outside.sh'), join(folder, 'linked.sh'));
  await symlink('sound.sh', join(folder, 'alias.sh'));
});

test('a program is an executable file in the folder itself, also by another name in it', async () => {
  expect(await locateProgram(folder, 'sound.sh')).toMatch(/commands\/sound\.sh$/);
  expect(await locateProgram(folder, 'alias.sh')).toMatch(/commands\/sound\.sh$/);
});

test.each([...['../outside.sh', 'deeper/in.sh', '/bin/sh', '.', '', 'linked.sh', 'text.txt', 'deeper', 'missing.sh']])(
  '%j is none, for good',
  async (name) => {
    await expect(locateProgram(folder, name)).rejects.toMatchObject({ permanent: true });
  },
);

test('without the folder there is none', async () => {
  await expect(locateProgram(undefined, 'sound.sh')).rejects.toThrow('COMMANDS_DIR is not set');
});

test('the programs of a site are those by their names, and a folder that is not there is refused', async () => {
  expect([...(await programsIn(folder)).keys()]).toEqual(['alias.sh', 'sound.sh']);
  expect((await programsIn(undefined)).size).toBe(0);
  await expect(programsIn(join(root, 'nowhere'))).rejects.toThrow(/^COMMANDS_DIR is/);
});

test('what a placeholder stands for stays one argument, whatever is in it', () => {
  const files = { input: '/tmp/a b; rm -rf $HOME', output: '/tmp/out' };
  const places = { ...files, flavor: 'presenter/source', event: 'e 1' };
  const found = argumentsOf(' --in={input}  {output} {event} {unknown} ', places);
  expect(found).toEqual(['--in=/tmp/a b; rm -rf $HOME', '/tmp/out', 'e 1', '{unknown}']);
});

test.each([
  ['*/*', true],
  ['presenter/*', true],
  ['*/source', true],
  ['presentation/*', false],
  ['presenter', true],
])('the flavor presenter/source is one of %s: %s', (pattern, fits) => {
  expect(matchesFlavor('presenter/source', pattern)).toBe(fits);
});
