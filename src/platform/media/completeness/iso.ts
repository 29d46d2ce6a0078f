import type { FileHandle } from 'node:fs/promises';
import { CUT_SHORT, type Finding, NO_INDEX, read } from './finding.ts';

const MAX_BOXES = 2_000_000;

/** MP4 and QuickTime: boxes with lengths, one of them the index. */
export async function checkIso(file: FileHandle, size: number): Promise<Finding | undefined> {
  let at = 0;
  let index = false;
  for (let boxes = 0; boxes < MAX_BOXES && size - at >= 8; boxes++) {
    const header = await read(file, at, 16);
    const type = header.toString('latin1', 4, 8);
    const short = header.readUInt32BE(0);
    const length = short === 0 ? size - at : short === 1 ? readLength(header) : short;
    // Padding or rubbish behind the last box does no harm.
    if (length < 8) break;
    if (type === 'moov') index = true;
    if (at + length > size && (type === 'moov' || type === 'moof' || type === 'mdat')) return CUT_SHORT;
    at += length;
  }
  return index ? undefined : NO_INDEX;
}

function readLength(header: Buffer): number {
  return header.length < 16 ? 0 : Number(header.readBigUInt64BE(8));
}
