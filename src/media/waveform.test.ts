import { describe, expect, it } from 'vitest';
import { Peaks } from './waveform.ts';

function samples(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 2);
  for (const [i, value] of values.entries()) buffer.writeInt16LE(value, i * 2);
  return buffer;
}

describe('Peaks', () => {
  it('keeps the loudest sample of each part, up or down', () => {
    const peaks = new Peaks(2, 6);
    peaks.add(samples(100, -16_384, 5, 0, 8192, -32_768));
    expect([...peaks.columns()]).toEqual([0.5, 1]);
    expect(peaks.done).toBe(1);
  });

  it('reads samples that are cut between their bytes', () => {
    const whole = new Peaks(3, 3);
    whole.add(samples(1000, -2000, 3000));
    const cut = new Peaks(3, 3);
    for (const byte of samples(1000, -2000, 3000)) cut.add(Uint8Array.of(byte));
    expect([...cut.columns()]).toEqual([...whole.columns()]);
    expect(whole.columns()[1]).toBeCloseTo(2000 / 32_768);
  });

  it('puts more samples than expected into the last part', () => {
    const peaks = new Peaks(2, 2);
    peaks.add(samples(0, 0, 0, 16_384));
    expect([...peaks.columns()]).toEqual([0, 0.5]);
  });
});
