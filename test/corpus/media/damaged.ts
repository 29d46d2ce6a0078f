import type { Container } from '../../support/clips.ts';
import { type Hostile, seeded, smallClip } from './hostile.ts';

const FORMATS: readonly Container[] = [
  ...(['mp4', 'mov', 'mkv', 'webm', 'ts', 'mpg', 'avi', 'flv', 'wmv', 'mxf', 'ogg'] as const),
  ...(['wav', 'aiff', 'caf', 'flac', 'mp3', 'aac', 'ac3', 'eac3'] as const),
];
/** One bit in so many bytes is wrong, and some more at the start, where the header is. */
const BYTES_PER_FLIP = 1500;
const HEADER = { bytes: 600, flips: 3 };

/** Real recordings of which only the start came, and such in which bits are wrong. */
export async function damaged(): Promise<Hostile[]> {
  const files = await Promise.all(
    FORMATS.map(async (format, seed): Promise<Hostile[]> => {
      const whole = await smallClip(format);
      return [
        { name: `the first 64 bytes of a ${format}`, bytes: whole.subarray(0, 64), ends: 'FAILED' },
        { name: `the first 1000 bytes of a ${format}`, bytes: whole.subarray(0, 1000) },
        { name: `a ${format} with wrong bits`, bytes: flipped(whole, seed + 1) },
      ];
    }),
  );
  return files.flat();
}

function flipped(whole: Buffer, seed: number): Buffer {
  const random = seeded(seed);
  const copy = Buffer.from(whole);
  const flip = (at: number) => copy.writeUInt8(copy.readUInt8(at) ^ (1 << random(8)), at);
  // The first bytes say what it is.
  for (let i = 0; i < HEADER.flips; i++) flip(64 + random(Math.min(HEADER.bytes, copy.length - 64)));
  for (let i = 0; i < copy.length / BYTES_PER_FLIP; i++) flip(64 + random(copy.length - 64));
  return copy;
}
