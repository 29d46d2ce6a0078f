import type { ByteSource } from '../byte-source.ts';

/** A sign that the end of a file is missing; `certain` if the file itself says so. */
export interface Finding {
  message: string;
  certain: boolean;
}

/** Checks the end of a file of one format; `size` in bytes. */
export type Check = (file: ByteSource, size: number) => Promise<Finding | undefined>;

export const CUT_SHORT = certain('it ends before the recording does');
export const NO_INDEX = certain('its index is missing, as when a recorder stops before it has finished the file');
export const BROKEN_OFF = doubt('it breaks off in the middle of a frame, as when a copy is interrupted');
export const UNFINISHED = doubt('its recorder never finished it');
export const SHORTER_THAN_DECLARED = doubt('it holds less than its header declares');

function certain(sign: string): Finding {
  return { message: `The file is incomplete: ${sign}.`, certain: true };
}

function doubt(sign: string): Finding {
  return { message: `The file may be incomplete: ${sign}.`, certain: false };
}

/** Reads up to `length` bytes; fewer at the end of the file. */
export async function read(file: ByteSource, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, at);
  return buffer.subarray(0, bytesRead);
}

export function readTail(file: ByteSource, size: number, length: number): Promise<Buffer> {
  const wanted = Math.min(size, length);
  return read(file, size - wanted, wanted);
}
