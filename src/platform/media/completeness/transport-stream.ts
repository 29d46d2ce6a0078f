import type { FileHandle } from 'node:fs/promises';
import { BROKEN_OFF, type Finding, readTail } from './finding.ts';
import { findTransportPackets, TS_SYNC } from './frame-sequence.ts';

const TAIL_BYTES = 65_536;
const PACKET = 188;
/** Cameras and discs put a time before each packet. */
const M2TS_PACKET = 192;
const TIME_BYTES = 4;

/**
 * MPEG transport stream: packets of one size, which nobody counts. A frame that is not whole says nothing: recordings of
 * a broadcast begin and end anywhere.
 */
export async function checkTransportStream(file: FileHandle, size: number): Promise<Finding | undefined> {
  const tail = await readTail(file, size, TAIL_BYTES);
  const packets = findTransportPackets(tail);
  if (!packets) return undefined;
  const before = packets.size === M2TS_PACKET ? TIME_BYTES : 0;
  const rest = (tail.length - packets.offset + before) % packets.size;
  if (rest === 0 || rest >= before + PACKET) return undefined;
  return rest <= before || tail[tail.length - rest + before] === TS_SYNC ? BROKEN_OFF : undefined;
}
