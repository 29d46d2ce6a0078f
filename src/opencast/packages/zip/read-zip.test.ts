import { createHash } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { StorageRefused } from '#platform/storage/port.ts';
import { folderForThisFile } from '#test/support/folders.ts';
import { type ZipPart, zipOf } from '#test/support/zip.ts';
import { MAX_ENTRIES, readZip, type ZipEntry } from './read-zip.ts';

const MANIFEST = { name: 'manifest.xml', content: '<mediapackage/>' };
const SOME = Buffer.from(createHash('sha512').update('some').digest('hex').repeat(20));
/** In what is stored without a size, signatures of all kinds are content. */
const TRICKY = Buffer.concat([zipOf([MANIFEST]), zipOf([MANIFEST])]);

const folder = await folderForThisFile();
const OPTIONS = { maxBytes: 2 ** 30, folder };

async function* chunksOf(archive: Buffer, sizes: readonly number[] = [archive.length || 1]) {
  for (let at = 0, i = 0; at < archive.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    yield Uint8Array.from(archive.subarray(at, at + size));
    at += size;
  }
}

type ReadOptions = { sizes?: number[]; maxBytes?: number };

/** All entries of an archive. */
async function read(archive: Buffer, { sizes, maxBytes = 2 ** 30 }: ReadOptions = {}) {
  const entries: [name: string, content: string][] = [];
  await readZip(chunksOf(archive, sizes), { maxBytes, folder }, async ({ name, stream }) => {
    entries.push([name, (await buffer(stream)).toString('latin1')]);
  });
  return entries;
}

const contentOf = (parts: ZipPart[]) =>
  parts.map(({ name, content = '' }) => [String(name), Buffer.from(content).toString('latin1')]);

const refusalOf = (archive: Buffer, options?: ReadOptions) =>
  read(archive, options).then(
    () => 'none',
    (error) => `${error.status} ${error.message}`,
  );

const refused = (reason: string) => `400 The zip archive cannot be taken: ${reason}.`;

const SIGNED = { signed: true, wide: false };
const descriptors = [true, false].flatMap((signed) => [true, false].map((wide) => ({ signed, wide })));
const media = (more: Partial<ZipPart> = {}) => ({ name: 'a.mp4', content: SOME, ...more });
/** How many bytes come at a time, over and over. */
const SIZES = [[1], [2, 3, 5, 1], [4096], [1, 700, 64, 3]];

test.each<[what: string, parts: ZipPart[]]>([
  ['stored', [MANIFEST, media()]],
  ['stored, in 64 bits', [{ ...MANIFEST, zip64: true }, media({ zip64: true })]],
  ['deflated', [{ ...MANIFEST, deflated: true }, media({ deflated: true })]],
  ['deflated, in 64 bits', [media({ deflated: true, zip64: true })]],
  ['of empty files', [{ name: 'a' }, { name: 'b', deflated: true }, { name: 'c', descriptor: SIGNED }]],
  ...descriptors.flatMap((descriptor): [string, ZipPart[]][] => {
    const deflated = media({ deflated: true, descriptor });
    const others = [
      deflated,
      { name: 'b', deflated: true, descriptor },
      { ...deflated, name: 'c.xml', zip64: true },
    ];
    const stored = [MANIFEST, { name: 'a.zip', content: TRICKY, descriptor }, deflated];
    const how = JSON.stringify(descriptor);
    return Object.entries({ [`with descriptors ${how}`]: others, [`stored without sizes ${how}`]: stored });
  }),
])('an archive %s gives the same entries however its bytes come', async (_, parts) => {
  for (const zip64 of [false, true]) {
    const archive = zipOf(parts, { zip64, comment: zip64 ? '' : 'a comment' });
    for (const sizes of SIZES) {
      expect(await read(archive, { sizes }), `${sizes}`).toEqual(contentOf(parts));
    }
  }
});

test('an archive without entries has none, and folders are not handed out', async () => {
  expect(await read(zipOf([]))).toEqual([]);
  const folder = { name: 'media/', mode: 0o40755 };
  expect(await read(zipOf([folder, { name: 'media/a', content: 'a' }]))).toEqual([['media/a', 'a']]);
});

test.each([
  ['as UTF-8 that says so', { name: 'Hörsaal.mp4', flags: 1 << 11 }, 'Hörsaal.mp4'],
  ['as UTF-8 that does not say so', { name: 'Hörsaal.mp4' }, 'Hörsaal.mp4'],
  ['in code page 437', { name: Buffer.from('H\x94rsaal.mp4', 'latin1') }, 'Hörsaal.mp4'],
])('a name %s is read', async (_, part, name) => {
  expect(await read(zipOf([part]))).toEqual([[name, '']]);
});

test('a name in the field for Unicode is read, unless the field is for another name', async () => {
  const field = (crc: number) => {
    const extra = Buffer.from('up\x0b\0\x01....\xc3\xa4.xml', 'latin1');
    extra.writeUInt16LE(extra.length - 4, 2);
    extra.writeUInt32LE(crc, 5);
    return extra;
  };
  expect(await read(zipOf([{ name: 'a.xml', extra: field(0xec28709c) }]))).toEqual([['ä.xml', '']]);
  expect(await read(zipOf([{ name: 'a.xml', extra: field(1) }]))).toEqual([['a.xml', '']]);
});

test.each<[reason: string, part: ZipPart]>([
  ...['../a', 'a/../../b', 'a/./b', 'a//b', '..'].map((name): [string, ZipPart] => [
    `the entry '${name}' has an empty part, '.' or '..' in its path`,
    { name },
  ]),
  ["the entry '/etc/passwd' has an absolute path", { name: '/etc/passwd' }],
  ["the entry 'C:a' has the letter of a drive in its name", { name: 'C:a' }],
  ["the entry '..\\a' has a backslash in its name; folders are separated by /", { name: '..\\a' }],
  ["the entry 'a\u{fffd}.mp4' has a control character in its name", { name: 'a\0.mp4' }],
  ['an entry has no name', { name: '' }],
  ['the name of an entry is longer than 1024 bytes', { name: 'a'.repeat(1025) }],
  ['the name of an entry is not UTF-8 as it says', { name: Buffer.from([0xff]), flags: 1 << 11 }],
  ["the entry 'a' is encrypted", { name: 'a', flags: 1 }],
  ["the entry 'a' is encrypted", { name: 'a', flags: 1 << 6 }],
  [
    "the entry 'a' has the compression method 9; allowed are 0 (stored) and 8 (deflated)",
    { name: 'a', method: 9 },
  ],
  ["the entry 'a' is a symbolic link", { name: 'a', content: '/etc/passwd', mode: 0o120777 }],
  ["the entry 'a/' is a folder with content", { name: 'a/', content: 'a' }],
  ["the entry 'a' is damaged", { name: 'a', content: 'a', local: { crc32: 1 } }],
  ["the entry 'a' is damaged", { name: 'a', content: 'a', local: { size: 2 } }],
  ["the entry 'a' is damaged", { name: 'a', content: SOME, deflated: true, local: { size: 2 } }],
  ["the entry 'a' is damaged", { name: 'a', content: SOME, deflated: true, local: { compressed: 20 } }],
  ["the entry 'a' is damaged", { name: 'a', content: 'not deflated', method: 8 }],
])('refused: %s', async (reason, part) => {
  expect(await refusalOf(zipOf([MANIFEST, part]))).toBe(refused(reason));
});

const DISAGREES = refused('its directory does not agree with its content');

test.each<[what: string, archive: Buffer, refusal: string]>([
  [
    'two entries of one name',
    zipOf([MANIFEST, MANIFEST]),
    refused("the entry 'manifest.xml' is there twice"),
  ],
  ['another name in the directory', zipOf([{ ...MANIFEST, directory: { name: 'manifest.xmi' } }]), DISAGREES],
  ['another checksum in the directory', zipOf([{ ...MANIFEST, directory: { crc32: 1 } }]), DISAGREES],
  ['another size in the directory', zipOf([{ ...MANIFEST, directory: { size: 1 } }]), DISAGREES],
  ['overlapping entries', zipOf([MANIFEST, { name: 'b', directory: { offset: 0 } }]), DISAGREES],
  ['an entry that is not in the directory', zipOf([MANIFEST, { name: 'b' }], { without: [1] }), DISAGREES],
  ['a wrong number of entries', zipOf([MANIFEST], { entries: 2 }), DISAGREES],
  ['something after its end', zipOf([MANIFEST], { after: SOME }), refused('it goes on after its end')],
  ['no zip archive', SOME, refused('it does not begin as zip archives do')],
  ['nothing', Buffer.alloc(0), refused('it does not begin as zip archives do')],
  [
    'no entry in the directory where one needs it',
    zipOf([{ ...MANIFEST, descriptor: SIGNED, directory: { offset: 1 } }]),
    refused("the entry 'manifest.xml' is not in the directory of the archive"),
  ],
])('an archive with %s is refused', async (_, archive, refusal) => {
  expect(await refusalOf(archive)).toBe(refusal);
});

test('an archive that ends anywhere before its end is refused', async () => {
  for (const deflated of [true, false]) {
    const archive = zipOf([{ ...MANIFEST, deflated, descriptor: SIGNED }]);
    for (let length = 0; length < archive.length; length++) {
      expect(await refusalOf(archive.subarray(0, length)), `after ${length} bytes`).toMatch(/^400 /);
    }
  }
});

test('whatever one byte of an archive is changed to, it gives its content or is refused', async () => {
  const parts = [MANIFEST, { name: 'b', content: SOME, deflated: true, descriptor: SIGNED }];
  const archive = zipOf(parts);
  const contents = (list: string[][]) => list.map(([, content]) => content);
  for (let at = 0; at < archive.length; at++) {
    for (const flip of [1, 0x80, 0xff]) {
      const other = Buffer.from(archive);
      other[at] = (other[at] ?? 0) ^ flip;
      const entries = await read(other).catch((error) => {
        expect(error, `byte ${at}`).toMatchObject({ status: 400 });
        return undefined;
      });
      if (entries) expect(contents(entries), `byte ${at}`).toEqual(contents(contentOf(parts)));
    }
  }
});

test('limits: the bytes of all files together, known before or not', async () => {
  const halves = (deflated: boolean): ZipPart[] => [
    { name: 'a', content: SOME, deflated },
    { name: 'b', content: SOME, deflated, ...(deflated && { descriptor: SIGNED }) },
  ];
  const refusal = (bytes: number) =>
    refused(`the entry 'b' makes the files of the archive larger than ${bytes} bytes together`);
  for (const deflated of [true, false]) {
    const archive = zipOf(halves(deflated));
    expect(await refusalOf(archive, { maxBytes: 2 * SOME.length })).toBe('none');
    expect(await refusalOf(archive, { maxBytes: 2 * SOME.length - 1 })).toBe(refusal(2 * SOME.length - 1));
  }
});

test('limits: the number of entries', async () => {
  const parts = Array.from({ length: MAX_ENTRIES + 1 }, (_, i) => ({ name: `${i}` }));
  expect(await refusalOf(zipOf(parts.slice(1)))).toBe('none');
  expect(await refusalOf(zipOf(parts))).toBe(refused(`it has more than ${MAX_ENTRIES} entries`));
});

test('a bomb is refused when little of it has been unpacked', async () => {
  const archive = zipOf([{ name: 'zeros', content: Buffer.alloc(2 ** 26), deflated: true }]);
  let received = 0;
  const reading = readZip(chunksOf(archive), { maxBytes: 2 ** 40, folder }, async ({ stream }) => {
    for await (const chunk of stream) received += chunk.length;
  });
  await expect(reading).rejects.toMatchObject({
    message: refused("the entry 'zeros' becomes more than 200 times as large as it is packed").slice(4),
  });
  expect(received).toBeLessThan(5 * 2 ** 20);
});

test('what nobody reads of an entry is checked all the same', async () => {
  const parts = [{ name: 'a', content: SOME }, { name: 'b', content: SOME, deflated: true }, MANIFEST];
  const names: string[] = [];
  const take = (archive: Buffer) =>
    readZip(chunksOf(archive, [100]), OPTIONS, async ({ name, stream }) => {
      names.push(name);
      if (name === 'b') for await (const _ of stream) break;
    });
  await take(zipOf(parts));
  expect(names).toEqual(['a', 'b', 'manifest.xml']);
  await expect(take(zipOf([{ ...parts[0], name: 'a', local: { crc32: 1 } }]))).rejects.toMatchObject({
    status: 400,
  });
});

const SPOOLED = { ...MANIFEST, name: 'later', descriptor: SIGNED };

test.each([
  ['streamed', [MANIFEST]],
  ['spooled', [SPOOLED]],
])(
  'a fault of whoever takes an entry that is %s is the fault of the reading, and ends it',
  async (_, parts) => {
    let closed = false;
    async function* source() {
      try {
        yield zipOf(parts);
      } finally {
        closed = true;
      }
    }
    const fault = new Error('The storage is full.');
    let stream: ZipEntry['stream'] | undefined;
    const reading = readZip(source(), OPTIONS, async (entry) => {
      stream = entry.stream;
      throw fault;
    });
    await expect(reading).rejects.toBe(fault);
    await expect.poll(() => closed).toBe(true);
    expect(stream?.destroyed).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  },
);

test.each([
  ['streamed', [{ name: 'a', content: SOME }]],
  ['spooled', [SPOOLED]],
])('a client that goes away is the fault of the reading, with an entry that is %s', async (_, parts) => {
  const gone = new Error('The client closed the connection.');
  async function* source() {
    yield zipOf(parts).subarray(0, 50);
    throw gone;
  }
  const reading = readZip(source(), OPTIONS, async ({ stream }) => {
    await buffer(stream);
  });
  await expect(reading).rejects.toBe(gone);
  expect(await readdir(folder)).toEqual([]);
});

test('a disk that takes nothing is the fault of the storage', async () => {
  const occupied = join(folder, 'occupied');
  await writeFile(occupied, '');
  const options = { ...OPTIONS, folder: occupied };
  const reading = readZip(chunksOf(zipOf([SPOOLED])), options, async () => undefined);
  await expect(reading).rejects.toThrow(StorageRefused);
  await rm(occupied);
});

test('entries before the one that needs a file are handed out before the archive has come', async () => {
  const archive = zipOf([MANIFEST, { name: 'a', content: SOME }, SPOOLED]);
  const names: string[] = [];
  let before: string[] | undefined;
  async function* source() {
    for await (const chunk of chunksOf(archive, [64])) {
      before = [...names];
      yield chunk;
    }
  }
  await readZip(source(), OPTIONS, async ({ name, stream }) => {
    names.push(name);
    await buffer(stream);
    // The file has no name.
    expect(await readdir(folder)).toEqual([]);
  });
  expect(before).toEqual(['manifest.xml', 'a']);
  expect(names).toEqual(['manifest.xml', 'a', 'later']);
});
