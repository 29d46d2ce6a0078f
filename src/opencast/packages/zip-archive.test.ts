import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { type ByteRange, StorageRefused } from '#platform/storage/object-storage.ts';
import { type ZipPart, zipOf } from '#test/support/zip.ts';
import { MAX_ENTRIES, ZipArchive } from './zip-archive.ts';

const MANIFEST = { name: 'manifest.xml', content: '<mediapackage/>' };
const SOME = Buffer.from(createHash('sha512').update('some').digest('hex').repeat(20));
/** Content that holds signatures of all kinds. */
const TRICKY = Buffer.concat([zipOf([MANIFEST]), zipOf([MANIFEST])]);

const webOf = (chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) =>
  Readable.toWeb(Readable.from(chunks)) as ReadableStream<Uint8Array>;

/** Opens an archive that is read in chunks of one size, with the ranges that are asked for. */
async function open(archive: Buffer, { maxBytes = 2 ** 30, chunk = 2 ** 16 } = {}) {
  const ranges: ByteRange[] = [];
  const get = async (_: string, range: ByteRange = { start: 0, end: archive.length - 1 }) => {
    ranges.push(range);
    const bytes = archive.subarray(range.start, range.end + 1);
    const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, i) =>
      Uint8Array.from(bytes.subarray(i * chunk, (i + 1) * chunk)),
    );
    return webOf(chunks);
  };
  const opened = await ZipArchive.open({ get }, { objectKey: 'key', size: archive.length }, maxBytes);
  return { opened, ranges };
}

/** All files of an archive. */
async function read(archive: Buffer, options?: Parameters<typeof open>[1]) {
  const { opened } = await open(archive, options);
  const entries: [name: string, content: string][] = [];
  for (const file of opened.files.values()) {
    entries.push([file.name, (await opened.read(file)).toString('latin1')]);
  }
  return entries;
}

const contentOf = (parts: ZipPart[]) =>
  parts.map(({ name, content = '' }) => [String(name), Buffer.from(content).toString('latin1')]);

const refusalOf = (archive: Buffer, options?: Parameters<typeof open>[1]) =>
  read(archive, options).then(
    () => 'none',
    (error) => `${error.status} ${error.message}`,
  );

const refused = (reason: string) => `400 The zip archive is invalid: ${reason}.`;

const DISAGREES = 'its directory does not agree with its content';
const SIGNED = { signed: true, wide: false };
const descriptors = [true, false].flatMap((signed) => [true, false].map((wide) => ({ signed, wide })));
const media = (more: Partial<ZipPart> = {}) => ({ name: 'a.mp4', content: SOME, ...more });

test.each<[what: string, parts: ZipPart[]]>([
  ['stored', [MANIFEST, media()]],
  ['stored, in 64 bits', [{ ...MANIFEST, zip64: true }, media({ zip64: true })]],
  ['deflated', [{ ...MANIFEST, deflated: true }, media({ deflated: true })]],
  ['deflated, in 64 bits', [media({ deflated: true, zip64: true })]],
  ['of empty files', [{ name: 'a' }, { name: 'b', deflated: true }, { name: 'c', descriptor: SIGNED }]],
  ...descriptors.flatMap((descriptor): [string, ZipPart[]][] => {
    const deflated = media({ deflated: true, descriptor });
    const others = [deflated, { name: 'b', deflated: true, descriptor }, { ...deflated, name: 'c.xml', zip64: true }];
    const stored = [MANIFEST, { name: 'a.zip', content: TRICKY, descriptor }, deflated];
    const how = JSON.stringify(descriptor);
    return Object.entries({ [`with descriptors ${how}`]: others, [`stored without sizes ${how}`]: stored });
  }),
])('an archive %s gives the same entries however its bytes come', async (_, parts) => {
  for (const zip64 of [false, true]) {
    const archive = zipOf(parts, { zip64, comment: zip64 ? '' : 'a comment' });
    for (const chunk of [1, 700, 4096]) {
      expect(await read(archive, { chunk }), `${chunk}`).toEqual(contentOf(parts));
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
  ["the entry 'a' is encrypted", { name: 'a', flags: 1, directory: { compressed: 12 } }],
  ['it cannot be read, or was cut short (strong encryption is not supported)', { name: 'a', flags: 1 << 6 }],
  ["the entry 'a' has the compression method 9; allowed are 0 (stored) and 8 (deflated)", { name: 'a', method: 9 }],
  ["the entry 'a' is a symbolic link", { name: 'a', content: '/etc/passwd', mode: 0o120777 }],
  ["the entry 'a/' is a folder with content", { name: 'a/', content: 'a' }],
  [DISAGREES, { name: 'a', content: 'a', local: { crc32: 1 } }],
  [DISAGREES, { name: 'a', content: 'a', local: { size: 2 } }],
  [DISAGREES, { name: 'a', content: SOME, deflated: true, local: { size: 2 } }],
  [DISAGREES, { name: 'a', content: SOME, deflated: true, local: { compressed: 20 } }],
  ["the entry 'a' is damaged", { name: 'a', content: 'a', local: { crc32: 1 }, directory: { crc32: 1 } }],
  [
    "the entry 'a' is damaged",
    { name: 'a', content: SOME, deflated: true, local: { size: 2 }, directory: { size: 2 } },
  ],
  [
    "the entry 'a' is damaged",
    { name: 'a', content: SOME, deflated: true, local: { size: 9999 }, directory: { size: 9999 } },
  ],
  ["the entry 'a' is damaged", { name: 'a', content: 'not deflated', method: 8 }],
])('refused: %s', async (reason, part) => {
  expect(await refusalOf(zipOf([MANIFEST, part]))).toBe(refused(reason));
});

test.each<[what: string, archive: Buffer, refusal: string]>([
  ['two entries of one name', zipOf([MANIFEST, MANIFEST]), "the entry 'manifest.xml' exists twice"],
  ['another name in the directory', zipOf([{ ...MANIFEST, directory: { name: 'manifest.xmi' } }]), DISAGREES],
  ['another checksum in the directory', zipOf([{ ...MANIFEST, directory: { crc32: 1 } }]), DISAGREES],
  [
    'another size in the directory',
    zipOf([{ ...MANIFEST, directory: { size: 1 } }]),
    'compressed/uncompressed size mismatch',
  ],
  ['overlapping entries', zipOf([MANIFEST, { name: 'b', directory: { offset: 0 } }]), DISAGREES],
  ['an entry that is not in the directory', zipOf([MANIFEST, { name: 'b' }], { without: [1] }), DISAGREES],
  ['a gap', zipOf([{ name: 'b' }, MANIFEST], { without: [0] }), DISAGREES],
  ['too many entries in its end', zipOf([MANIFEST], { entries: 2 }), 'unexpected end'],
  ['too few entries in its end', zipOf([MANIFEST], { entries: 0 }), DISAGREES],
  ['something after its end', zipOf([MANIFEST], { after: SOME }), 'extra bytes at the end of the file'],
  ['no zip archive', SOME, 'End of central directory record signature not found'],
  ['nothing', Buffer.alloc(0), 'End of central directory record signature not found'],
  ['a wrong place of an entry', zipOf([{ ...MANIFEST, descriptor: SIGNED, directory: { offset: 1 } }]), DISAGREES],
])('an archive with %s is refused', async (_, archive, reason) => {
  const refusal = await refusalOf(archive);
  expect(refusal).toMatch(/^400 The zip archive is invalid: /);
  expect(refusal).toContain(reason);
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

test('a bomb is refused before any of it is unpacked', async () => {
  const content = Buffer.alloc(2 ** 26);
  const refusal = refused("the entry 'zeros' unpacks to more than 200 times its packed size");
  expect(await refusalOf(zipOf([{ name: 'zeros', content, deflated: true }]))).toBe(refusal);
  // One that says that it is none is not unpacked any further than it says.
  const lie = { size: 1000 };
  const { opened } = await open(zipOf([{ name: 'zeros', content, deflated: true, local: lie, directory: lie }]));
  let received = 0;
  const unpack = async () => {
    for (const file of opened.files.values()) {
      for await (const chunk of opened.open(file)) received += chunk.length;
    }
  };
  await expect(unpack()).rejects.toMatchObject({ status: 400 });
  expect(received).toBeLessThanOrEqual(lie.size);
});

test('few requests read many small files, and a file is read in any order, as often as wanted', async () => {
  const parts = Array.from({ length: 200 }, (_, i) => ({ name: `${i}`, content: SOME.subarray(0, 100) }));
  const { opened, ranges } = await open(zipOf(parts));
  for (const { name } of parts.toReversed()) {
    const file = opened.files.get(name);
    if (file) expect(await opened.read(file)).toEqual(SOME.subarray(0, 100));
  }
  expect(ranges.length).toBeLessThan(5);
});

test('a storage that fails is not the fault of the archive', async () => {
  const archive = zipOf([{ name: 'large', content: Buffer.alloc(100_000) }, MANIFEST]);
  let left = 4;
  const get = async (_: string, range?: ByteRange) => {
    if (--left < 0) throw new Error('gone');
    const bytes = archive.subarray(range?.start, range && range.end + 1);
    return webOf([bytes]);
  };
  const object = { objectKey: 'key', size: archive.length };
  const opened = await ZipArchive.open({ get }, object, 2 ** 30);
  left = 0;
  const [file] = opened.files.values();
  await expect(file && opened.read(file)).rejects.toThrow(StorageRefused);
  await expect(ZipArchive.open({ get }, object, 2 ** 30)).rejects.toThrow(StorageRefused);
});

test('whoever stops reading a file stops the reading of the storage', async () => {
  const archive = zipOf([{ name: 'large', content: Buffer.alloc(10_000_000) }]);
  let cancelled = false;
  const get = async (_: string, range?: ByteRange) => {
    const stop = () => {
      cancelled = true;
    };
    const bytes = archive.subarray(range?.start, range && range.end + 1);
    async function* chunks() {
      try {
        for (let at = 0; at < bytes.length; at += 1000) yield Uint8Array.from(bytes.subarray(at, at + 1000));
      } finally {
        stop();
      }
    }
    return webOf(chunks());
  };
  const opened = await ZipArchive.open({ get }, { objectKey: 'key', size: archive.length }, 2 ** 30);
  cancelled = false;
  for (const file of opened.files.values()) for await (const _ of opened.open(file)) break;
  await expect.poll(() => cancelled).toBe(true);
});

test.each([{}, { descriptor: SIGNED }])(
  'a header with another method than the directory is refused: %j',
  async (more) => {
    const archive = zipOf([media(more)]);
    // The method of the first local header.
    archive.writeUInt16LE(8, 8);
    expect(await refusalOf(archive)).toBe(refused(DISAGREES));
  },
);

test('a name may hold the character that stands for unreadable ones', async () => {
  expect(await read(zipOf([{ name: 'a\ufffd.mp4', content: SOME }]))).toHaveLength(1);
});
