import { describe, expect, it } from 'vitest';
import { type Expected, PacketProgress } from './packet-progress.ts';

function fractionsOf(expected: Expected, ...output: string[]): number[] {
  const fractions: number[] = [];
  const progress = new PacketProgress(expected, (fraction) => fractions.push(fraction));
  for (const text of output) progress.add(text);
  return fractions;
}

const packet = (ticks: number) => `0,  ${ticks},  ${ticks},  40, 1, 0x1\n`;

describe('PacketProgress', () => {
  it('counts from the first packet in the time base the output declares', () => {
    const fractions = fractionsOf(
      { duration: 10_000, packets: null },
      '#software: Lavf\n#tb 0: 1/90000\n#media_type 0: video\n0,     12',
      '6000,     133200,     3600,     1297, 0x8f738da1\n',
      '0,     576000,     583200,     3600,     1027, 0x52eaffa3, F=0x0\n',
    );
    expect(fractions).toEqual([0, 0.5]);
  });

  it('counts packets where it is known how many there are, however far apart they are', () => {
    const times = [0, 36_000_000, 36_000_040, 36_000_080];
    const fractions = fractionsOf(
      { duration: 36_000_120, packets: 4 },
      '#tb 0: 1/1000\n',
      ...times.map(packet),
    );
    expect(fractions).toEqual([0.25, 0.5, 0.75, 0.99]);
  });

  it('is not done when the last packet has been read, nor when more come than were expected', () => {
    expect(
      fractionsOf({ duration: 1000, packets: null }, '#tb 0: 1/1000\n', packet(0), packet(36_000_000)),
    ).toEqual([0, 0.99]);
    expect(fractionsOf({ duration: 1000, packets: 1 }, packet(0), packet(1))).toEqual([0.99, 0.99]);
  });

  it('says nothing while neither duration nor number are known', () => {
    expect(fractionsOf({ duration: 0, packets: null }, '#tb 0: 1/1000\n', packet(10))).toEqual([]);
  });
});
