import { type ClipOptions, recording } from '../../support/clips.ts';

/** A file that somebody sends to do harm, or by mistake. */
export interface Hostile {
  name: string;
  bytes: Uint8Array;
  /** As what it is sent; a recording of the presenter unless said otherwise. */
  field?: string;
  filename?: string;
  /** What it must come to, where that is not open. */
  ends?: 'SUCCEEDED' | 'FAILED';
}

/** A sound recording of a second to do things to, small enough to be processed in no time. */
export function smallClip(container: ClipOptions['container'], options: ClipOptions = {}): Promise<Buffer> {
  const size = container === 'mxf' ? '320x240' : '64x48';
  const rate = ['mpg', 'mxf'].includes(container ?? '') ? 25 : 10;
  return recording({ container, seconds: 1, video: { size, rate }, audio: { channels: 1 }, ...options });
}

/** A copy in which the bytes at a place behind a mark are others. */
export function patched(bytes: Uint8Array, mark: string, offset: number, values: Uint8Array): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.indexOf(mark, 0, 'latin1');
  if (at < 0) throw new Error(`There is no ${mark} in it.`);
  copy.set(values, at + offset);
  return copy;
}

export function repeated(times: number, part: Uint8Array): Buffer {
  return Buffer.alloc(times * part.length, part);
}

export function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4);
  return bytes;
}

export function uint32le(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32LE(value, i * 4);
  return bytes;
}

export const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** The same numbers in every run. */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
