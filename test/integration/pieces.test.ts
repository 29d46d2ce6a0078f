import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deliver } from '#platform/media/encode-delivery.ts';
import { parseHeights, USUAL_LADDER } from '#platform/media/ladder.ts';
import { encodePiece, type PieceFile } from '#platform/media/pieces/encode-piece.ts';
import { joinPieces } from '#platform/media/pieces/join-pieces.ts';
import { type PictureWork, planPieces, whyIndivisible } from '#platform/media/pieces/piece-plan.ts';
import { countFrames, probe } from '#platform/media/probe.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { type ClipOptions, clip, clipFolder, testTools } from '../support/clips.ts';
import { type MarkedClip, markedClip, markedPictures, markedSound } from '../support/marked-clips.ts';

const tools = await testTools();
const OPTIONS = { timeLimitMs: 60_000, onProgress: () => undefined };
const settings = { ...USUAL_LADDER, heights: parseHeights('source') ?? [] };
/** So short that a clip has several. */
const PIECES = { seconds: 4, leastWork: 0 };

const newFolder = () => mkdtemp(join(clipFolder(), 'pieces-'));

async function workOn(path: string): Promise<PictureWork> {
  return { source: await probe(tools, path), settings, encodeAll: false, hasCopy: false };
}

/** Knows that pictures come irregularly, and encodes them without B-frames. */
async function countedWorkOn(path: string): Promise<PictureWork> {
  const work = await workOn(path);
  return { ...work, source: await countFrames(tools, work.source) };
}

async function inPieces(path: string, inspect = workOn): Promise<string> {
  const work = await inspect(path);
  const plan = planPieces(work, PIECES);
  if ('whole' in plan) throw new Error(plan.whole);
  const pieces: PieceFile[][] = [];
  for (const stretch of plan.stretches)
    pieces.push(await encodePiece(tools, work, stretch, { ...OPTIONS, folder: await newFolder() }));
  expect(pieces.length).toBeGreaterThan(2);
  const { renditions } = await joinPieces(tools, work, pieces, { ...OPTIONS, folder: await newFolder() });
  return renditions[0]?.path ?? '';
}

async function inOneGo(path: string): Promise<string> {
  const { source } = await workOn(path);
  const { renditions } = await deliver(tools, source, { ...OPTIONS, settings, folder: await newFolder() });
  return renditions[0]?.path ?? '';
}

async function psnr(a: string, b: string): Promise<number> {
  // By their numbers: the filter pairs by time, which may differ by a millionth.
  const graph = '[0:v]settb=1,setpts=N[a];[1:v]settb=1,setpts=N[b];[a][b]psnr';
  const compare = ['-v', 'info', '-i', a, '-i', b, '-lavfi', graph, '-f', 'null', '-'];
  const { log } = await runTool(tools.ffmpeg, compare, OPTIONS);
  return Number(/average:([\d.]+|inf)/.exec(log)?.[1]?.replace('inf', 'Infinity'));
}

const SPARSE = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '1M', '-g', '130'];
const B_FRAMES = ['-c:v', 'mpeg4', '-q:v', '3', '-bf', '2', '-g', '70'];
const CLIPS: [string, MarkedClip][] = [
  ['VP8', { name: 'pieces.webm', seconds: 17, rate: 30, video: SPARSE, audio: ['-c:a', 'libopus'] }],
  [
    'times that begin late, B-frames and a rate of NTSC',
    {
      ...{ name: 'pieces.mp4', seconds: 17, rate: 29.97, video: B_FRAMES, audio: ['-c:a', 'aac'] },
      options: ['-output_ts_offset', '3'],
    },
  ],
  [
    'irregular pictures, the next one sometimes seconds later',
    {
      ...{ name: 'pieces.mkv', seconds: 17, video: B_FRAMES, audio: ['-c:a', 'libmp3lame'] },
      only: 'not(mod(n\\,7))+lt(n\\,40)+gt(n\\,300)*not(mod(n\\,90))',
    },
  ],
  ['no sound', { name: 'silent.mkv', seconds: 17, video: B_FRAMES, audio: false }],
];

describe('pieces, joined', () => {
  it.each(CLIPS)('give what one go gives: %s', async (_, options) => {
    const source = await markedClip(options);
    const [joined, one] = [await inPieces(source), await inOneGo(source)];
    const [pictures, expected] = [await markedPictures(joined), await markedPictures(one)];
    expect(pictures).toEqual(expected.map(({ number, time }) => ({ number, time: expect.closeTo(time, 3) })));
    expect(await psnr(joined, one)).toBeGreaterThan(40);
    if (options.audio === false) return;
    const sound = await markedSound(one);
    const near = (seconds: number) => expect.closeTo(seconds, 2);
    expect(await markedSound(joined)).toEqual(
      sound.map(({ second, from, to }, i) => ({
        second,
        from: near(from),
        to: i === sound.length - 1 ? expect.closeTo(to, 1) : near(to),
      })),
    );
  });

  const NONE = 'lt(n\\,90)+gt(n\\,400)';
  const FEW = 'lt(n\\,90)+eq(n\\,150)+between(n\\,210\\,216)+eq(n\\,310)+eq(n\\,400)';
  it.each<[string, string, number, typeof workOn]>([
    ['none of them', NONE, 114, workOn],
    ['so few that tools do not know when a file begins', FEW, 100, countedWorkOn],
    ['so few, with B-frames', FEW, 100, workOn],
  ])('have every picture and the sound where a piece has %s', async (_, only, count, inspect) => {
    const audio = ['-c:a', 'libmp3lame', '-af', 'atrim=start=7'];
    const source = await markedClip({ name: 'late.mkv', seconds: 17, video: B_FRAMES, audio, only });
    const joined = await inPieces(source, inspect);
    const near = ({ number, time }: { number: number; time: number }) => ({ number, time: expect.closeTo(time, 2) });
    const pictures = await markedPictures(source);
    expect(pictures).toHaveLength(count);
    expect(await markedPictures(joined)).toEqual(pictures.map(near));
    const sound = await markedSound(joined);
    expect(sound.find(({ second }) => second === 8)?.from).toBeCloseTo(8, 1);
  });
});

describe('a recording is encoded in one go', () => {
  const REASONS: [string, ClipOptions, Parameters<typeof planPieces>[1]][] = [
    ['it is short', { seconds: 5, container: 'webm' }, { leastWork: 0 }],
    ['it is short', { seconds: 14, container: 'webm' }, { seconds: 4 }],
    ['it has no pictures', { seconds: 5, video: false, container: 'm4a' }, PIECES],
    ['its container has no index', { seconds: 14, container: 'mpg' }, PIECES],
  ];
  it.each(REASONS)('because %s', async (whole, options, limits) => {
    expect(planPieces(await workOn(await clip(options)), limits)).toEqual({ whole });
  });

  it('because parts of it are cut out, which its inspection tells', () => {
    expect(whyIndivisible({ recording: { demuxer: 'mov' }, cut: true })).toBe('parts of it are cut out');
  });

  it('because its best rendition is copied, unless that was done before', async () => {
    const work = await workOn(await clip({ seconds: 14 }));
    expect(planPieces(work, PIECES)).toEqual({ whole: 'its best rendition is copied' });
    expect(planPieces({ ...work, hasCopy: true }, PIECES)).toEqual({ whole: 'nothing is encoded' });
  });
});
