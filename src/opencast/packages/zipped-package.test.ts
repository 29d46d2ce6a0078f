import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { IncomingFile } from '#ingest/staged-files.ts';
import { type ZipPart, zipOf } from '#test/support/zip.ts';
import { ZipArchive } from './zip-archive.ts';
import { readZippedPackage } from './zipped-package.ts';

const MANIFEST =
  '<mediapackage><media><track type="presenter/source"><url>a.mp4</url></track></media><metadata><catalog type="smil/cutting"><url>cut.smil</url></catalog></metadata></mediapackage>';
const FILES = [
  { name: 'manifest.xml', content: MANIFEST },
  { name: 'a.mp4', content: 'video' },
];

async function read(parts: ZipPart[]) {
  const zip = zipOf(parts);
  const get = async (_: string, range?: { start: number; end: number }) =>
    new Blob([Uint8Array.from(zip.subarray(range?.start, range && range.end + 1))]).stream();
  const archive = await ZipArchive.open({ get }, { objectKey: '', size: zip.length }, 2 ** 30);
  const store = async ({ filename, stream }: IncomingFile) => ({
    ...{ filename, size: (await buffer(stream)).length },
  });
  return readZippedPackage(archive, { store } as never, {} as never);
}

test.each<[string, string | undefined]>([
  ['not there', undefined],
  ['empty', ''],
  ['no XML', 'x'],
  ['too long', ' '.repeat(2 ** 20 + 1)],
])('a cut that is %s is told of, and costs no recording', async (_, content) => {
  const cut = content === undefined ? [] : [{ name: 'cut.smil', content }];
  const { contents, uncut, emptyTracks } = await read([...FILES, ...cut]);
  expect([uncut, emptyTracks]).toEqual([['cut.smil'], []]);
  expect(contents).toMatchObject({ tracks: [{ filename: 'a.mp4', size: 5 }], catalogs: [] });
});

test('what the manifest does not name is checked all the same', async () => {
  const wrong = { crc32: 1 };
  const unnamed = { name: 'unnamed', content: 'x', local: wrong, directory: wrong };
  await expect(read([...FILES, unnamed])).rejects.toMatchObject({ status: 400 });
});
