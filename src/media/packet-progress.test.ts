import { describe, expect, it } from 'vitest';
import { PacketProgress } from './packet-progress.ts';

describe('PacketProgress', () => {
  it('counts from the first packet in the time base the output declares', () => {
    const fractions: number[] = [];
    const progress = new PacketProgress(10_000, (fraction) => fractions.push(fraction));
    progress.add('#software: Lavf\n#tb 0: 1/90000\n#media_type 0: video\n0,     12');
    progress.add('6000,     133200,     3600,     1297, 0x8f738da1\n');
    progress.add('0,     576000,     583200,     3600,     1027, 0x52eaffa3, F=0x0\n');
    progress.add('0,     9999999,   9999999,     3600,     1027, 0x52eaffa3\n');
    expect(fractions).toEqual([0, 0.5, 1]);
  });

  it('says nothing while the duration is unknown', () => {
    const fractions: number[] = [];
    const progress = new PacketProgress(0, (fraction) => fractions.push(fraction));
    progress.add('#tb 0: 1/1000\n0,  10,  10,  40, 1, 0x1\n');
    expect(fractions).toEqual([]);
  });
});
