import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, openSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readZip } from './read-zip.ts';

const FILES: Record<string, Buffer> = {
  'manifest.xml': Buffer.from('<mediapackage/>'),
  'episode.xml': Buffer.from('<dublincore/>\n'.repeat(20_000)),
  'camera.mp4': randomBytes(3_000_000),
  'Hörsaal 1.mp4': randomBytes(70_000),
  'empty.txt': Buffer.alloc(0),
};
const NAMES = Object.keys(FILES);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'zip-'));
  await mkdir(join(folder, 'package'));
  for (const name of NAMES) await writeFile(join(folder, 'package', name), FILES[name] ?? '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const EXPECTED = Object.fromEntries(NAMES.map((name) => [name, hash(FILES[name] ?? Buffer.alloc(0))]));

async function read(archive: string): Promise<Record<string, string>> {
  const entries: Record<string, string> = {};
  const spool = join(folder, 'spool');
  const options = { maxBytes: 2 ** 30, folder: spool };
  await readZip(createReadStream(archive), options, async ({ name, stream }) => {
    const sum = createHash('sha256');
    for await (const chunk of stream) sum.update(chunk);
    entries[name] = sum.digest('hex');
    expect(await readdir(spool).catch(() => [])).toEqual([]);
  });
  return entries;
}

const has = (program: string) => spawnSync(program, ['--version']).status === 0;

test.skipIf(!has('zip')).each([
  ['as Galicaster does', ['-j0']],
  ['deflated', ['-9']],
  ['in 64 bits', ['-fz']],
])('an archive of the program zip, %s', async (what, options) => {
  const archive = join(folder, `${what}.zip`);
  execFileSync('zip', ['-q', ...options, archive, ...NAMES], { cwd: join(folder, 'package') });
  expect(await read(archive)).toEqual(EXPECTED);
});

test.skipIf(!has('zip'))('an archive that the program zip wrote to a pipe', async () => {
  const archive = join(folder, 'pipe.zip');
  const out = openSync(archive, 'w');
  const quoted = NAMES.map((name) => `'${name}'`).join(' ');
  spawnSync('sh', ['-c', `zip -q - ${quoted} | cat`], {
    cwd: join(folder, 'package'),
    stdio: ['ignore', out, 'inherit'],
  });
  expect(await read(archive)).toEqual(EXPECTED);
});

test.skipIf(!has('zip'))('a symbolic link that the program zip kept', async () => {
  const archive = join(folder, 'link.zip');
  execFileSync('sh', ['-c', 'ln -s /etc/passwd link; zip -qy "$0" link', archive], { cwd: folder });
  await expect(read(archive)).rejects.toMatchObject({
    status: 400,
    message: "The zip archive cannot be taken: the entry 'link' is a symbolic link.",
  });
});

const PYTHON = `
import io, os, sys, zipfile
method, wide, seekable, path, *names = sys.argv[1:]
class Pipe(io.RawIOBase):
    def __init__(self): self.file = open(path, 'wb')
    def writable(self): return True
    def seekable(self): return False
    def write(self, data): return self.file.write(data)
archive = zipfile.ZipFile(path if seekable == '1' else Pipe(), 'w', int(method))
for name in names:
    with archive.open(name, 'w', force_zip64=wide == '1') as entry:
        entry.write(open(name, 'rb').read())
archive.close()
`;

const ways = ['0', '8'].flatMap((method) =>
  ['0', '1'].flatMap((wide) => ['0', '1'].map((seekable) => ({ method, wide, seekable }))),
);

test.skipIf(!has('python3')).each(ways)(
  'an archive of Python: method $method, 64 bits $wide, to a file $seekable',
  async ({ method, wide, seekable }) => {
    const archive = join(folder, `python-${method}${wide}${seekable}.zip`);
    execFileSync('python3', ['-c', PYTHON, method, wide, seekable, archive, ...NAMES], {
      cwd: join(folder, 'package'),
    });
    expect(await read(archive)).toEqual(EXPECTED);
  },
);
