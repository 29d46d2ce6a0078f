import type { FileHandle } from 'node:fs/promises';
import { BROKEN_OFF, CUT_SHORT, type Finding, read, SHORTER_THAN_SAID } from './finding.ts';

const HEAD_BYTES = 2 ** 20;
const FILE_PROPERTIES = Buffer.from('a1dcab8c47a9cf118ee400c00c205365', 'hex');
const DATA = Buffer.from('3626b2758e66cf11a6d900aa0062ce6c', 'hex');
const DATA_HEADER = 50;
/** How packets begin, unlike an index. */
const PACKET_START = Buffer.from([0x82, 0, 0]);
/** Sizes are not valid in what was recorded as it was sent. */
const BROADCAST = 1;

/** Windows Media: the size of the file, that of its data, and packets of one size. */
export async function checkAsf(file: FileHandle, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, HEAD_BYTES);
  const properties = head.indexOf(FILE_PROPERTIES);
  if (head.length < 30 || properties < 0 || properties + 104 > head.length) return undefined;
  const fileSize = Number(head.readBigUInt64LE(properties + 40));
  const broadcast = (head.readUInt32LE(properties + 88) & BROADCAST) !== 0;
  const [smallest, largest] = [head.readUInt32LE(properties + 92), head.readUInt32LE(properties + 96)];
  const start = Number(head.readBigUInt64LE(16));
  const data = Number.isSafeInteger(start) ? await read(file, start, 24) : Buffer.alloc(0);
  if (data.length < 24 || !data.subarray(0, 16).equals(DATA)) return start > size ? CUT_SHORT : undefined;
  if (broadcast)
    return smallest === largest ? checkLastPacket(file, size, start + DATA_HEADER, smallest) : undefined;
  if (start + Number(data.readBigUInt64LE(16)) > size) return CUT_SHORT;
  return fileSize > size ? SHORTER_THAN_SAID : undefined;
}

async function checkLastPacket(
  file: FileHandle,
  size: number,
  start: number,
  packet: number,
): Promise<Finding | undefined> {
  const rest = packet > 0 ? (size - start) % packet : 0;
  if (rest === 0) return undefined;
  const begin = await read(file, size - rest, Math.min(rest, PACKET_START.length));
  return PACKET_START.subarray(0, begin.length).equals(begin) ? BROKEN_OFF : undefined;
}
