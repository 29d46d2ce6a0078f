import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertComplete } from './completeness.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-complete-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function check(demuxer: string, bytes: Uint8Array): Promise<void> {
  const path = join(folder, 'file');
  await writeFile(path, bytes);
  const file = await open(path);
  try {
    await assertComplete(file, bytes.length, demuxer);
  } finally {
    await file.close();
  }
}

function box(type: string, length: number, declared = length + 8): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(declared, 0);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, Buffer.alloc(length)]);
}

function longBox(type: string, length: number): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(1, 0);
  header.write(type, 4, 'latin1');
  header.writeBigUInt64BE(BigInt(length + 16), 8);
  return Buffer.concat([header, Buffer.alloc(length)]);
}

function matroska(declared: number[], content: number): Buffer {
  const header = [0x1a, 0x45, 0xdf, 0xa3, 0x84, 0x42, 0x86, 0x81, 0x01];
  return Buffer.concat([
    Buffer.from([...header, 0x18, 0x53, 0x80, 0x67, ...declared]),
    Buffer.alloc(content),
  ]);
}

function wav(declared: number, length: number): Buffer {
  const file = Buffer.alloc(length);
  file.write('RIFF', 'latin1');
  file.writeUInt32LE(declared, 4);
  return file;
}

describe('assertComplete', () => {
  it('passes whole files, in either order of their parts', async () => {
    await check('mov', Buffer.concat([box('ftyp', 16), box('mdat', 100), box('moov', 50)]));
    await check('mov', Buffer.concat([box('ftyp', 16), box('moov', 50), longBox('mdat', 100)]));
    await check('mov', Buffer.concat([box('moov', 50), box('mdat', 100, 0)]));
    await check('matroska', matroska([0x01, 0, 0, 0, 0, 0, 0, 100], 100));
    await check('wav', wav(992, 1000));
    await check('mpegts', Buffer.alloc(10));
  });

  it('tells an MP4 that was cut in its media from one that never got an index', async () => {
    const whole = Buffer.concat([box('ftyp', 16), box('moov', 50), box('mdat', 1000)]);
    await expect(check('mov', whole.subarray(0, 500))).rejects.toMatchObject({
      permanent: true,
      message: expect.stringContaining('ends before'),
    });
    await expect(check('mov', Buffer.concat([box('ftyp', 16), box('mdat', 100)]))).rejects.toMatchObject({
      permanent: true,
      message: expect.stringContaining('index is missing'),
    });
    const long = Buffer.concat([box('moov', 50), longBox('mdat', 1000)]);
    await expect(check('mov', long.subarray(0, -1))).rejects.toThrow(/ends before/);
  });

  it('bears rubbish behind the last part of an MP4', async () => {
    const whole = Buffer.concat([box('moov', 50), box('mdat', 100)]);
    await check('mov', Buffer.concat([whole, Buffer.alloc(30)]));
    await check('mov', Buffer.concat([whole, Buffer.from('TAG of some tool, not a part at all')]));
  });

  it('sees a Matroska file that was cut, but not a live recording', async () => {
    await expect(check('matroska', matroska([0x01, 0, 0, 0, 0, 0, 1, 0], 100))).rejects.toThrow(
      /ends before/,
    );
    await check('matroska', matroska([0x01, 255, 255, 255, 255, 255, 255, 255], 100));
    await check('matroska', matroska([0xff], 100));
  });

  it('sees a WAV file that was cut, but not one whose recorder never knew the length', async () => {
    await expect(check('wav', wav(4000, 1000))).rejects.toThrow(/ends before/);
    await check('wav', wav(0xffff_ffff, 1000));
    await check('wav', wav(0x7fff_ffff, 1000));
    await check('wav', wav(0, 1000));
  });
});
