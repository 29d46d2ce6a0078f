import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkComplete } from './check.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-complete-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function check(demuxer: string, bytes: Uint8Array): Promise<string | undefined> {
  const path = join(folder, 'file');
  await writeFile(path, bytes);
  const file = await open(path);
  try {
    return await checkComplete(file, bytes.length, demuxer);
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

describe('checkComplete', () => {
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

  it('sees a live recording that broke off between two blocks of a cluster', async () => {
    const block = [0xa3, 0x84, 1, 2, 3, 4];
    const cluster = [0x1f, 0x43, 0xb6, 0x75, 0x80 | (2 * block.length)];
    const live = (...content: number[]) => Buffer.concat([matroska([0xff], 0), Buffer.from(content)]);
    expect(await check('matroska', live(...cluster, ...block, ...block))).toBeUndefined();
    expect(await check('matroska', live(...cluster, ...block))).toMatch(/broken off|incomplete/);
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

  it('sees the end of an AVI of several gigabytes, which is in its last part', async () => {
    const part = (length: number, declared = length - 8) => wav(declared, length);
    await check('avi', Buffer.concat([part(100), part(60)]));
    await expect(check('avi', Buffer.concat([part(100), part(60, 90)]))).rejects.toThrow(/ends before/);
  });

  it('sees a WAV of over 4 GB that was cut', async () => {
    const long = (declared: number) => {
      const file = Buffer.alloc(100);
      file.write('RF64\xff\xff\xff\xffWAVEds64', 'latin1');
      file.writeUInt32LE(28, 16);
      file.writeBigUInt64LE(BigInt(declared), 20);
      return file;
    };
    await check('wav', long(92));
    await expect(check('wav', long(5_000_000_000))).rejects.toThrow(/ends before/);
  });

  it('takes one sign in a Flash video for a doubt, and two for certain', async () => {
    const tag = (seconds: number) => {
      const bytes = Buffer.alloc(11 + 20 + 4);
      bytes[0] = 9;
      bytes.writeUIntBE(20, 1, 3);
      bytes.writeUIntBE(seconds * 1000, 4, 3);
      bytes.writeUInt32BE(31, 31);
      return bytes;
    };
    const video = (said: { duration?: number; filesize?: number }, ...seconds: number[]) => {
      const numbers = Object.entries(said).map(([name, value]) => {
        const number = Buffer.alloc(8);
        number.writeDoubleBE(value);
        return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([0]), number]);
      });
      return Buffer.concat([Buffer.from('FLV'), ...numbers, ...seconds.map(tag)]);
    };
    expect(await check('flv', video({ duration: 100 }, 0, 50, 99))).toBeUndefined();
    expect(await check('flv', video({ duration: 100 }, 0, 50))).toMatch(/less in it than it says/);
    expect(await check('flv', video({ duration: 0 }, 0, 50).subarray(0, -3))).toMatch(/breaks off/);
    await expect(check('flv', video({ duration: 100 }, 0, 50).subarray(0, -3))).rejects.toThrow(
      /ends before/,
    );
    await expect(check('flv', video({ duration: 100, filesize: 999 }, 0, 50))).rejects.toThrow(/ends before/);
  });

  it('does not take a tag that was removed from an MP3 for a part of the recording', async () => {
    const frame = Buffer.alloc(417);
    frame.set([0xff, 0xfb, 0x90, 0x64]);
    const mp3 = (declared: number, frames: number) => {
      const first = Buffer.from(frame);
      first.write('Xing', 36, 'latin1');
      first.writeUInt32BE(2, 40);
      first.writeUInt32BE(declared, 44);
      return Buffer.concat([first, ...Array.from({ length: frames }, () => frame)]);
    };
    expect(await check('mp3', mp3(417 * 101, 100))).toBeUndefined();
    expect(await check('mp3', mp3(417 * 101 + 128, 100))).toBeUndefined();
    expect(await check('mp3', mp3(417 * 101, 50))).toMatch(/less in it than it says/);
    await expect(check('mp3', mp3(417 * 101, 100).subarray(0, -100))).rejects.toThrow(/ends before/);
  });
});
