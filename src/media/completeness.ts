import type { FileHandle } from 'node:fs/promises';
import { MediaFailure } from './failure.ts';

const CUT_SHORT = 'The file is incomplete: it ends before the recording does.';
const NO_INDEX =
  'The file is incomplete: its index is missing, as when a recorder is stopped before it finished the file.';

/** Sizes from here on are what recorders write while they do not know the size yet. */
const RIFF_PLACEHOLDER = 0x7fff_0000;
const SEGMENT_ID = 0x18538067;
const MATROSKA_HEAD_BYTES = 4096;
const MAX_BOXES = 2_000_000;

/**
 * Checks that a file is as long as it says itself, where its format says so. The tools accept a file that was cut
 * short and process what is there.
 *
 * @param size of the file in bytes
 * @throws {MediaFailure} permanent
 */
export async function assertComplete(file: FileHandle, size: number, demuxer: string): Promise<void> {
  if (demuxer === 'mov') await assertIsoComplete(file, size);
  else if (demuxer === 'matroska') await assertMatroskaComplete(file, size);
  else if (demuxer === 'wav' || demuxer === 'avi') await assertRiffComplete(file, size, 'little');
  else if (demuxer === 'aiff') await assertRiffComplete(file, size, 'big');
}

async function assertIsoComplete(file: FileHandle, size: number): Promise<void> {
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
    if (at + length > size && (type === 'moov' || type === 'moof' || type === 'mdat'))
      throw damaged(CUT_SHORT);
    at += length;
  }
  if (!index) throw damaged(NO_INDEX);
}

async function assertMatroskaComplete(file: FileHandle, size: number): Promise<void> {
  const head = await read(file, 0, MATROSKA_HEAD_BYTES);
  const headerLength = vint(head, 4);
  if (!headerLength) return;
  const at = headerLength.end + headerLength.value;
  if (at + 12 > head.length || head.readUInt32BE(at) !== SEGMENT_ID) return;
  const segment = vint(head, at + 4);
  if (segment && segment.end + segment.value > size) throw damaged(CUT_SHORT);
}

async function assertRiffComplete(file: FileHandle, size: number, order: 'little' | 'big'): Promise<void> {
  const head = await read(file, 0, 8);
  if (head.length < 8 || head.toString('latin1', 0, 4) === 'RF64') return;
  const length = order === 'little' ? head.readUInt32LE(4) : head.readUInt32BE(4);
  if (length < RIFF_PLACEHOLDER && length + 8 > size + 1) throw damaged(CUT_SHORT);
}

/** A number of variable length; undefined when it says "unknown", as live recordings do. */
function vint(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || at + length > bytes.length) return undefined;
  let value = first & (0xff >> length);
  let unknown = value === 0xff >> length;
  for (const byte of bytes.subarray(at + 1, at + length)) {
    value = value * 256 + byte;
    unknown &&= byte === 0xff;
  }
  return unknown ? undefined : { value, end: at + length };
}

function readLength(header: Buffer): number {
  return header.length < 16 ? 0 : Number(header.readBigUInt64BE(8));
}

async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

function damaged(message: string): MediaFailure {
  return new MediaFailure(message, { permanent: true });
}
