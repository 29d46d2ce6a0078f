import { describe, expect, it } from 'vitest';
import { AUDIO, VIDEO } from '#test/support/streams.ts';
import { USUAL_LADDER } from '../ladder.ts';
import type { MediaInfo } from '../probe.ts';
import { planPieces } from './piece-plan.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The stretches of a recording that browsers cannot play. */
function stretchesOf(seconds: number, changes: Partial<MediaInfo> = {}) {
  const source = {
    recording: { demuxer: 'matroska' },
    ...{ duration: seconds * 1000, size: seconds * 250_000, hasVideo: true, hasAudio: true },
    ...{ video: { ...VIDEO, codec: 'vp9' }, audio: AUDIO, streams: [] },
    ...{ indexed: true, measured: true, start: 0, soundTick: 0.001 },
    spans: { video: { begin: 0, end: seconds }, audio: { begin: 0, end: seconds } },
    ...changes,
  } as MediaInfo;
  const plan = planPieces({ source, settings: USUAL_LADDER, encodeAll: false, hasCopy: false });
  return 'whole' in plan ? [] : plan.stretches;
}

describe('the pieces of a recording', () => {
  it.each([
    ['a minute', 10 * MINUTE, MINUTE, 10],
    ['two minutes if it lasts more than an hour', 90 * MINUTE, 2 * MINUTE, 45],
    ['more if there would be more than some hundred', 168 * HOUR, 22 * MINUTE, 458],
  ])('last %s', (_, seconds, length, count) => {
    const borders = Array.from({ length: count - 1 }, (_, i) => (i + 1) * length * 25);
    const edges = [null, ...borders, null];
    expect(stretchesOf(seconds)).toEqual(edges.slice(1).map((to, i) => ({ from: edges[i], to })));
  });

  it('are few if it has few pictures, whatever their times', () => {
    const video = { ...VIDEO, codec: 'vp9', frameCount: 1300, frameRate: 1300 / (168 * HOUR) };
    const stretches = stretchesOf(168 * HOUR, { video, audio: undefined, size: 20_000_000 });
    expect(stretches).toHaveLength(21);
    expect(stretches[0]).toEqual({ from: null, to: 482 * MINUTE * 25 });
  });
});
