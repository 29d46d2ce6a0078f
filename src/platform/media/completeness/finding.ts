import type { FileHandle } from 'node:fs/promises';

/** What is wrong with the end of a file: `certain` when the file itself says so, else there are only signs of it. */
export interface Finding {
  /** A sentence for whoever sent the file. */
  message: string;
  certain: boolean;
}

/** Looks for what is missing at the end of a file of one format; `size` in bytes. */
export type Check = (file: FileHandle, size: number) => Promise<Finding | undefined>;

export const CUT_SHORT: Finding = {
  message: 'The file is incomplete: it ends before the recording does.',
  certain: true,
};

export const NO_INDEX: Finding = {
  message:
    'The file is incomplete: its index is missing, as when a recorder is stopped before it finished the file.',
  certain: true,
};

export const BROKEN_OFF: Finding = {
  message:
    'The file may be incomplete: it breaks off in the middle of a frame, as when a copy is interrupted.',
  certain: false,
};

export const UNFINISHED: Finding = {
  message: 'The file may be incomplete: its recorder never finished it.',
  certain: false,
};

export const SHORTER_THAN_SAID: Finding = {
  message: 'The file may be incomplete: there is less in it than it says.',
  certain: false,
};

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
