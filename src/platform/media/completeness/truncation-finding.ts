import type { FileHandle } from 'node:fs/promises';

/** A sign that the end of a file is missing: `certain` when the file itself says so. */
export interface Finding {
  /** A sentence for the sender of the file. */
  message: string;
  certain: boolean;
}

/** Looks for what is missing at the end of a file of one format; `size` in bytes. */
export type Check = (file: FileHandle, size: number) => Promise<Finding | undefined>;

export const CUT_SHORT = certain('it ends before the recording does');
export const NO_INDEX = certain('its index is missing, as when a recorder is stopped before it finished the file');
export const BROKEN_OFF = doubt('it breaks off in the middle of a frame, as when a copy is interrupted');
export const UNFINISHED = doubt('its recorder never finished it');
export const SHORTER_THAN_SAID = doubt('there is less in it than it says');

function certain(sign: string): Finding {
  return { message: `The file is incomplete: ${sign}.`, certain: true };
}

function doubt(sign: string): Finding {
  return { message: `The file may be incomplete: ${sign}.`, certain: false };
}

/** Up to `length` bytes from a place; fewer at the end of the file. */
export async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

/** The last bytes of a file. */
export function readTail(file: FileHandle, size: number, length: number): Promise<Buffer> {
  const wanted = Math.min(size, length);
  return read(file, size - wanted, wanted);
}
