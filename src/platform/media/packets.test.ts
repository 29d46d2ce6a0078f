import { describe, expect, it } from 'vitest';
import { Lines, PacketProgress, PacketTimeline } from './packets.ts';
import { placesToLook, timelineLayout } from './video-previews.ts';
import { Peaks } from './waveform.ts';

describe('Lines', () => {
  const ENDLESS = Array<string>(1000).fill('x'.repeat(1000));
  const BROKEN = ['a\n', ...ENDLESS, '\nb\n', 'y'.repeat(5000), '\nc'];
  it.each([
    ['puts lines together from pieces of any size', ['a', 'b\nc', '\n\nd', 'e'], ['ab', 'c', '', 'de']],
    ['keeps nothing of what never breaks, and continues with the next line', BROKEN, ['a', 'b', 'c']],
  ])('%s', (_, chunks, expected) => {
    const found: string[] = [];
    const lines = new Lines((line) => found.push(line));
    for (const chunk of chunks) lines.add(chunk);
    lines.end();
    expect(found).toEqual(expected);
  });
});

describe('PacketProgress', () => {
  const packet = (ticks: number) => `0,  ${ticks},  ${ticks},  40, 1, 0x1\n`;
  const MS = '#tb 0: 1/1000\n';
  const HOURS = [0, 36_000_000, 36_000_040, 36_000_080].map(packet);
  const DECLARED = [
    '#software: Lavf\n#tb 0: 1/90000\n#media_type 0: video\n0,     12',
    '6000,     133200,     3600,     1297, 0x8f738da1\n',
    '0,     576000,     583200,     3600,     1027, 0x52eaffa3, F=0x0\n',
  ];
  it.each<[string, number, number | null, string[], number[]]>([
    ['counts from the first packet in the time base that is declared', 10_000, null, DECLARED, [0, 0.5]],
    ['counts packets where their number is known', 36_000_120, 4, [MS, ...HOURS], [0.25, 0.5, 0.75, 0.99]],
    ['is not done when the last packet has been read', 1000, null, [MS, ...HOURS.slice(0, 2)], [0, 0.99]],
    ['is not done when more packets come than expected', 1000, 1, [packet(0), packet(1)], [0.99, 0.99]],
    ['is silent while neither is known', 0, null, [MS, packet(10)], []],
  ])('%s', (_, duration, packets, output, fractions) => {
    const seen: number[] = [];
    const progress = new PacketProgress({ duration, packets }, (fraction) => seen.push(fraction));
    for (const text of output) progress.lines.add(text);
    expect(seen).toEqual(fractions);
  });

  const line = (decoded: number, shown: number | undefined, flags: string) =>
    `0,  ${decoded},  ${shown ?? -(2n ** 63n)},  1,  9, 0x1${flags}\n`;
  const key = (decoded: number, shown?: number) => line(decoded, shown, '');
  const other = (decoded: number, shown?: number) => line(decoded, shown, ', F=0x0');
  it.each([
    ['before the key frame that it follows', true, [key(0, 2), other(1, 3), key(2, 6), other(3, 5), other(4, 7)]],
    ['before the key frame at the beginning', true, [key(0, 2), other(1, 1), other(2, 3)]],
    ['only after it, though out of order', false, [key(0, 2), other(1, 5), other(2, 3), other(3, 4), key(4, 6)]],
    ['at no known time', false, [key(0), other(1), key(2), other(3)]],
    ['earlier, as the times start again with a key frame', false, [key(90, 92), other(91, 93), key(0, 2), other(1, 3)]],
  ])('tells a picture that is shown %s', (_, expected, lines) => {
    const progress = new PacketProgress({ duration: 0, packets: null }, () => undefined);
    for (const text of ['#tb 0: 1/25\n', ...lines]) progress.lines.add(text);
    expect(progress.hasOpenGop).toBe(expected);
  });
});

describe('PacketTimeline', () => {
  it('measures from the first packet to the end of the last, over the given streams', () => {
    const timeline = new PacketTimeline([0, 1]);
    timeline.lines.add('stream_index=0|pts_time=1.400000|dts_time=1.320000|duration_time=0.040000\n');
    timeline.lines.add('stream_index=1|pts_time=1.378000|dts_time=1.378000|duration_time=0.021000\n');
    timeline.lines.add('stream_index=0|pts_time=3.360000|dts_time=3.320000|duration_time=0.040000\n');
    timeline.lines.add('stream_index=2|pts_time=99.000000|dts_time=99.000000|duration_time=1.000000\n');
    const { duration, packets } = timeline.end();
    expect(duration).toBe(2022);
    expect(Object.fromEntries(packets)).toEqual({ 0: 2, 1: 1 });
  });

  it('lets the last packet last as long as the others where none says how long', () => {
    const timeline = new PacketTimeline([0]);
    for (let i = 0; i < 10; i++)
      timeline.lines.add(`stream_index=0|pts_time=${i / 10}|dts_time=N/A|duration_time=N/A\n`);
    expect(timeline.end().duration).toBe(1000);
  });

  it('begins a stream with its first key frame, if its packets say which are', () => {
    const timeline = new PacketTimeline([0, 1, 2]);
    for (const [i, flags] of ['__', '__', 'K_', 'K_'].entries())
      timeline.lines.add(`stream_index=0|pts_time=${i}|dts_time=${i}|duration_time=1|flags=${flags}\n`);
    for (const i of [0, 1]) timeline.lines.add(`stream_index=1|pts_time=${i}|dts_time=${i}|duration_time=1|flags=__\n`);
    const { spans } = timeline.end();
    expect([...spans]).toEqual([
      [0, { first: 0, begin: 2, end: 3 }],
      [1, { first: 0, begin: 0, end: 1 }],
    ]);
  });

  describe('of joined files', () => {
    /** Two seconds of pictures, stored out of order, and of sound a bit longer, whose times begin at each of these. */
    const joined = (starts: readonly number[], isJoinable: boolean) => {
      const timeline = new PacketTimeline([0, 1], isJoinable);
      const line = (index: number, pts: number, dts: number) =>
        timeline.lines.add(`stream_index=${index}|pts_time=${pts}|dts_time=${dts}|duration_time=0.04|flags=K_\n`);
      for (const start of starts) {
        for (let i = 0; i < 50; i++) {
          const dts = start + i * 0.04;
          line(0, dts + (i % 2 ? 0.04 : 0.12), dts);
          line(1, dts + 0.1, dts + 0.1);
        }
      }
      return timeline.end();
    };

    it.each([
      ['begin again at the same time', [1, 1, 1]],
      ['jump by an hour', [1, 3600, 7]],
      ['do not jump', [1, 3, 5]],
    ])('adds up the parts where the times %s', (_what, starts) => {
      const { duration, packets, spans, rates } = joined(starts, true);
      expect(packets.get(0)).toBe(150);
      expect(Math.abs((duration ?? 0) - 6100)).toBeLessThan(90);
      for (const index of [0, 1]) expect(spans.get(index)?.end).toBeCloseTo(7, 0);
      expect(rates.get(0)).toBeCloseTo(25, 0);
    });

    it('takes the times as they are where files cannot be joined, and where one stream waits for another', () => {
      expect(joined([1, 3600], false).duration).toBeGreaterThan(3_600_000);
      const timeline = new PacketTimeline([0, 1], true);
      for (const time of [5, 9]) timeline.lines.add(`stream_index=0|pts_time=${time}|dts_time=${time}\n`);
      for (const time of [4, 8]) timeline.lines.add(`stream_index=1|pts_time=${time}|dts_time=${time}\n`);
      expect([...timeline.end().spans.values()].map(({ begin, end }) => [begin, end])).toEqual([
        [5, 9],
        [4, 8],
      ]);
    });
  });

  it('reads lines that arrive in pieces, the last one without an end', () => {
    const timeline = new PacketTimeline([0]);
    const output = 'stream_index=0|pts_time=0.5|duration_time=0.5\nstream_index=0|pts_time=N/A|dts_time=1.5';
    for (const letter of output) timeline.lines.add(letter);
    const spans = new Map([[0, { first: 0.5, begin: 0.5, end: 1.5 }]]);
    const [packets, rates] = [new Map([[0, 2]]), new Map([[0, null]])];
    expect(timeline.end()).toEqual({ duration: 2000, packets, spans, rates });
    expect(new PacketTimeline([0]).end().duration).toBeNull();
  });
});

it.each([
  ['an instant', 40, { imageCount: 1, columns: 1, rows: 1, intervalMs: 1000 }],
  ['half a second', 500, { imageCount: 1, columns: 1, rows: 1, intervalMs: 1000 }],
  ['twelve seconds', 12_000, { imageCount: 12, columns: 10, rows: 2, intervalMs: 1000 }],
  ['a bit more than fits evenly', 100_001, { imageCount: 100, columns: 10, rows: 10, intervalMs: 1001 }],
  ['ten hours', 36_000_000, { imageCount: 100, columns: 10, rows: 10, intervalMs: 360_000 }],
])('a timeline has a picture for every moment of %s', (_what, duration, expected) => {
  const layout = timelineLayout(duration, { width: 160, height: 90 });
  expect(layout).toMatchObject(expected);
  expect(Math.floor((duration - 1) / layout.intervalMs)).toBeLessThan(layout.imageCount);
});

it('stills are looked for within the recording, near its start, and last at the very start', () => {
  expect(placesToLook(500)).toEqual([0]);
  const places = placesToLook(36_000_000);
  expect(places.at(-1)).toBe(0);
  expect(Math.max(...places)).toBeLessThan(1800);
  expect(Math.max(...placesToLook(10_000))).toBeLessThan(10);
});

describe('Peaks', () => {
  const samples = (...values: number[]) => Buffer.from(Int16Array.from(values).buffer);
  const columnsOf = (count: number, expected: number, ...chunks: Uint8Array[]) => {
    const peaks = new Peaks(count, expected);
    for (const chunk of chunks) peaks.add(chunk);
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    expect(peaks.done).toBe(bytes / 2 / expected);
    return [...peaks.columns];
  };

  it('are the loudest samples of each part, up or down, the last of all that come later', () => {
    expect(columnsOf(2, 6, samples(100, -16_384, 5, 0, 8192, -32_768))).toEqual([0.5, 1]);
    expect(columnsOf(2, 2, samples(0, 0, 0, 16_384))).toEqual([0, 0.5]);
  });

  it('are read from samples that are cut between their bytes', () => {
    const sound = samples(1000, -2000, 3000);
    const cut = columnsOf(3, 3, ...[...sound].map((byte) => Uint8Array.of(byte)));
    expect(cut).toEqual(columnsOf(3, 3, sound));
    expect(cut[1]).toBeCloseTo(2000 / 32_768);
  });
});
