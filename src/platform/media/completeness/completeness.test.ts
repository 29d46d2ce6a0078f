import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForThisFile } from '#test/support/folders.ts';
import { checkComplete } from './completeness.ts';

const folder = await folderForThisFile();
const WHOLE = /^whole$/;
const CUT = /^cut: .*ends before/;
const LESS = /^doubt: .*holds less than its header declares/;

/** What is found: "whole", a doubt, or for certain that it was cut. */
async function found(demuxer: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, 'file');
  await writeFile(path, bytes);
  const file = await open(path);
  try {
    const doubt = await checkComplete(file, bytes.length, demuxer);
    return doubt ? `doubt: ${doubt}` : 'whole';
  } catch (error) {
    expect(error).toMatchObject({ permanent: true });
    return `cut: ${(error as Error).message}`;
  } finally {
    await file.close();
  }
}

const concat = (...parts: Uint8Array[]) => Buffer.concat(parts);

function box(type: string, length: number, declared = length + 8): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(declared, 0);
  header.write(type, 4, 'latin1');
  return concat(header, Buffer.alloc(length));
}

function longBox(type: string, length: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(length + 16));
  return concat(box(type, 0, 1), size, Buffer.alloc(length));
}

const [FTYP, MOOV, MDAT] = [box('ftyp', 16), box('moov', 50), box('mdat', 100)];

/** An index of fragments of these sizes, which follow it. */
function sidx(...sizes: number[]): Buffer {
  const index = box('sidx', 24 + 12 * sizes.length);
  index.writeUInt16BE(sizes.length, 30);
  for (const [i, size] of sizes.entries()) index.writeUInt32BE(size, 32 + 12 * i);
  return index;
}
const FRAGMENT = concat(box('moof', 20), MDAT);

function matroska(declared: number[], content: number | number[]): Buffer {
  const header = [0x1a, 0x45, 0xdf, 0xa3, 0x84, 0x42, 0x86, 0x81, 0x01, 0x18, 0x53, 0x80, 0x67, ...declared];
  return concat(Buffer.from(header), typeof content === 'number' ? Buffer.alloc(content) : Buffer.from(content));
}
const BLOCK = [0xa3, 0x84, 1, 2, 3, 4];
const CLUSTER = [0x1f, 0x43, 0xb6, 0x75, 0x80 | (2 * BLOCK.length), ...BLOCK];

function wav(declared: number, length: number): Buffer {
  const file = Buffer.alloc(length);
  file.write('RIFF', 'latin1');
  file.writeUInt32LE(declared, 4);
  return file;
}

function rf64(declared: number): Buffer {
  const file = Buffer.alloc(100);
  file.write('RF64\xff\xff\xff\xffWAVEds64', 'latin1');
  file.writeUInt32LE(28, 16);
  file.writeBigUInt64LE(BigInt(declared), 20);
  return file;
}

function flv(said: { duration?: number; filesize?: number }, ...seconds: number[]): Buffer {
  const numbers = Object.entries(said).map(([name, value]) => {
    const number = Buffer.alloc(8);
    number.writeDoubleBE(value);
    return concat(Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([0]), number);
  });
  const tags = seconds.map((second) => {
    const tag = Buffer.alloc(11 + 20 + 4);
    tag[0] = 9;
    tag.writeUIntBE(20, 1, 3);
    tag.writeUIntBE(second * 1000, 4, 3);
    tag.writeUInt32BE(31, 31);
    return tag;
  });
  return concat(Buffer.from('FLV'), ...numbers, ...tags);
}

function mp3(declared: number, frames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0x64]);
  const first = Buffer.from(frame);
  first.write('Xing', 36, 'latin1');
  first.writeUInt32BE(2, 40);
  first.writeUInt32BE(declared, 44);
  return concat(first, ...Array.from({ length: frames }, () => frame));
}

it.each<[string, string, Uint8Array, RegExp]>([
  ['an MP4 with its index behind', 'mov', concat(FTYP, MDAT, MOOV), WHOLE],
  ['an MP4 with its index ahead', 'mov', concat(FTYP, MOOV, longBox('mdat', 100)), WHOLE],
  ['an MP4 whose last part is open', 'mov', concat(MOOV, box('mdat', 100, 0)), WHOLE],
  ['an MP4 with zeros behind', 'mov', concat(MOOV, MDAT, Buffer.alloc(30)), WHOLE],
  ['an MP4 with a tag behind', 'mov', concat(MOOV, MDAT, Buffer.from('TAG of some tool, not a part')), WHOLE],
  ['an MP4 cut in its media', 'mov', concat(FTYP, MOOV, MDAT).subarray(0, -50), CUT],
  ['an MP4 cut in a long part', 'mov', concat(MOOV, longBox('mdat', 1000)).subarray(0, -1), CUT],
  ['an MP4 without an index', 'mov', concat(FTYP, MDAT), /^cut: .*index is missing/],
  ['an MP4 with indexed fragments', 'mov', concat(FTYP, MOOV, sidx(136, 136), FRAGMENT, FRAGMENT), WHOLE],
  ['an MP4 cut in an indexed fragment', 'mov', concat(MOOV, sidx(136, 136), FRAGMENT, FRAGMENT).subarray(0, -1), CUT],
  ['an MP4 cut behind its indexed fragments', 'mov', concat(MOOV, sidx(136), FRAGMENT, MDAT).subarray(0, -1), CUT],
  ['an MP4 with an unreadable index', 'mov', concat(MOOV, box('sidx', 24).fill(255, 8), FRAGMENT), WHOLE],
  ['a Matroska file', 'matroska', matroska([0x01, 0, 0, 0, 0, 0, 0, 100], 100), WHOLE],
  ['a Matroska file that was cut', 'matroska', matroska([0x01, 0, 0, 0, 0, 0, 1, 0], 100), CUT],
  ['a live recording', 'matroska', matroska([0xff], [...CLUSTER, ...BLOCK]), WHOLE],
  ['a live recording of unknown length', 'matroska', matroska([0x01, ...Array(7).fill(255)], 100), WHOLE],
  ['a live recording that broke off', 'matroska', matroska([0xff], CLUSTER), /^doubt: .*(off|incomplete)/],
  ['a WAV file', 'wav', wav(992, 1000), WHOLE],
  ['a WAV file that was cut', 'wav', wav(4000, 1000), CUT],
  ['a WAV file of unknown length', 'wav', wav(0xffff_ffff, 1000), WHOLE],
  ['a WAV file of the longest length', 'wav', wav(0x7fff_ffff, 1000), WHOLE],
  ['a WAV file without a length', 'wav', wav(0, 1000), WHOLE],
  ['a WAV file with a long length', 'wav', rf64(92), WHOLE],
  ['a WAV file of over 4 GB that was cut', 'wav', rf64(5_000_000_000), CUT],
  ['an AVI in two parts', 'avi', concat(wav(92, 100), wav(52, 60)), WHOLE],
  ['an AVI cut in its last part', 'avi', concat(wav(92, 100), wav(90, 60)), CUT],
  ['a Flash video', 'flv', flv({ duration: 100 }, 0, 50, 99), WHOLE],
  ['a Flash video that is too short', 'flv', flv({ duration: 100 }, 0, 50), LESS],
  ['a Flash video cut in a tag', 'flv', flv({ duration: 0 }, 0, 50).subarray(0, -3), /^doubt: .*breaks off/],
  ['a Flash video that is both', 'flv', flv({ duration: 100 }, 0, 50).subarray(0, -3), CUT],
  ['a Flash video smaller than it says, too', 'flv', flv({ duration: 100, filesize: 999 }, 0, 50), CUT],
  ['an MP3', 'mp3', mp3(417 * 101, 100), WHOLE],
  ['an MP3 of which a tag was removed', 'mp3', mp3(417 * 101 + 128, 100), WHOLE],
  ['an MP3 with half its frames', 'mp3', mp3(417 * 101, 50), LESS],
  ['an MP3 cut in a frame', 'mp3', mp3(417 * 101, 100).subarray(0, -100), CUT],
])('what is found of %s', async (_, demuxer, bytes, expected) => {
  expect(await found(demuxer, bytes)).toMatch(expected);
});

/** Bytes at an address, and the number of reads. */
function remoteBytes(bytes: Buffer) {
  const counts = { reads: 0 };
  const read = async (target: Buffer, offset: number, length: number, position: number) => {
    counts.reads += 1;
    return { bytesRead: bytes.copy(target, offset, position, position + length) };
  };
  return { counts, object: { isRemote: true, read, close: async () => undefined } };
}

it('reads the index of fragments instead of each one', async () => {
  const bytes = concat(FTYP, MOOV, sidx(...Array(500).fill(136)), ...Array(500).fill(FRAGMENT));
  const { counts, object } = remoteBytes(bytes);
  expect(await checkComplete(object, bytes.length, 'mov')).toBeUndefined();
  expect(counts.reads).toBe(4);
});

it('reads some hundred fragments without an index at an address, and all of a file', async () => {
  const bytes = concat(FTYP, MOOV, ...Array(500).fill(FRAGMENT)).subarray(0, -1);
  const { counts, object } = remoteBytes(bytes);
  expect(await checkComplete(object, bytes.length, 'mov')).toBeUndefined();
  expect(counts.reads).toBeLessThan(410);
  expect(await found('mov', bytes)).toMatch(CUT);
  const few = concat(FTYP, MOOV, ...Array(150).fill(FRAGMENT)).subarray(0, -1);
  await expect(checkComplete(remoteBytes(few).object, few.length, 'mov')).rejects.toThrow('ends before');
});
