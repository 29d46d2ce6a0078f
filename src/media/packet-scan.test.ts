import { describe, expect, it } from 'vitest';
import { PacketTimeline } from './packet-scan.ts';

describe('PacketTimeline', () => {
  it('measures from the first packet to the end of the last, over all streams asked for', () => {
    const timeline = new PacketTimeline([0, 1]);
    timeline.add('stream_index=0|pts_time=1.400000|dts_time=1.320000|duration_time=0.040000\n');
    timeline.add('stream_index=1|pts_time=1.378000|dts_time=1.378000|duration_time=0.021000\n');
    timeline.add('stream_index=0|pts_time=3.360000|dts_time=3.320000|duration_time=0.040000\n');
    timeline.add('stream_index=2|pts_time=99.000000|dts_time=99.000000|duration_time=1.000000\n');
    const { duration, packets } = timeline.end();
    expect(duration).toBe(2022);
    expect(packets).toEqual(
      new Map([
        [0, 2],
        [1, 1],
      ]),
    );
  });

  it('lets the last packet last as long as the others where none says how long', () => {
    const timeline = new PacketTimeline([0]);
    for (let i = 0; i < 10; i++) {
      timeline.add(`stream_index=0|pts_time=${i / 10}|dts_time=N/A|duration_time=N/A\n`);
    }
    expect(timeline.end().duration).toBe(1000);
  });

  it('reads lines that arrive in pieces, the last one without an end', () => {
    const timeline = new PacketTimeline([0]);
    const output = 'stream_index=0|pts_time=0.5|duration_time=0.5\nstream_index=0|pts_time=N/A|dts_time=1.5';
    for (const letter of output) timeline.add(letter);
    expect(timeline.end()).toEqual({ duration: 1000 + 1000, packets: new Map([[0, 2]]) });
  });

  it('has no duration for streams without packets', () => {
    expect(new PacketTimeline([0]).end().duration).toBeNull();
  });
});
