import type { FileHandle } from 'node:fs/promises';
import { CUT_SHORT, type Finding, NO_INDEX, read } from './truncation-finding.ts';

const MAX_BOXES = 2_000_000;

/** MP4 and QuickTime: boxes with lengths, one of them the index. */
export async function checkIso(file: FileHandle, size: number): Promise<Finding | undefined> {
  let at = 0;
  let index = false;
  for (let boxes = 0; boxes < MAX_BOXES && size - at >= 8; boxes++) {
    const header = await read(file, at, 16);
    const type = header.toString('latin1', 4, 8);
    const short = header.readUInt32BE(0);
    const length = short === 0 ? size - at : short === 1 ? longBoxLength(header) : short;
    // Padding or rubbish behind the last box does no harm.
    if (length < 8) break;
    if (type === 'moov') index = true;
    if (at + length > size && (type === 'moov' || type === 'moof' || type === 'mdat')) return CUT_SHORT;
    at += length;
  }
  return index ? undefined : NO_INDEX;
}

function longBoxLength(header: Buffer): number {
  return header.length < 16 ? 0 : Number(header.readBigUInt64BE(8));
}

/** Sizes from here on are what recorders write while they do not know the size yet. */
const PLACEHOLDER = 0x7fff_0000;
/** A gigabyte each is usual. */
const MAX_SEGMENTS = 10_000;
const MAX_CHUNKS = 1000;

/** WAV and AVI: a chunk with a length holds all of it, or (AVI over a gigabyte) several do one after the other. */
export async function checkRiff(file: FileHandle, size: number): Promise<Finding | undefined> {
  let at = 0;
  for (let segments = 0; segments < MAX_SEGMENTS; segments++) {
    const head = await read(file, at, 36);
    const form = head.toString('latin1', 0, 4);
    if (head.length < 8 || (form !== 'RIFF' && form !== 'RF64')) return undefined;
    const length = form === 'RF64' ? rf64Length(head) : head.readUInt32LE(4);
    if (form === 'RIFF' && length >= PLACEHOLDER) return undefined;
    // Sizes are even, but not every recorder writes the byte that fills up.
    if (at + length + 8 > size + 1) return CUT_SHORT;
    at += length + 8 + (length % 2);
  }
  return undefined;
}

/** The first chunk of a file over 4 GB has its length; 0 when it is not there. */
function rf64Length(head: Buffer): number {
  return head.length >= 28 && head.toString('latin1', 12, 16) === 'ds64' ? Number(head.readBigUInt64LE(20)) : 0;
}

export async function checkAiff(file: FileHandle, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, 8);
  if (head.length < 8) return undefined;
  const length = head.readUInt32BE(4);
  return length < PLACEHOLDER && length + 8 > size + 1 ? CUT_SHORT : undefined;
}

/** Core Audio: chunks with lengths of eight bytes; that of the sound is -1 while it is not known. */
export async function checkCaf(file: FileHandle, size: number): Promise<Finding | undefined> {
  let at = 8;
  for (let chunks = 0; chunks < MAX_CHUNKS && size - at >= 12; chunks++) {
    const header = await read(file, at, 12);
    const length = Number(header.readBigInt64BE(4));
    if (length < 0) return undefined;
    at += 12 + length;
    if (at > size) return header.toString('latin1', 0, 4) === 'data' ? CUT_SHORT : undefined;
  }
  return undefined;
}
