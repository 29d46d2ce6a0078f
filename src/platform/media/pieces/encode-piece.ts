import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { deliveryRate, threadsFor } from '../delivery-plan.ts';
import { largestResult, pace, streamsOf } from '../encode-delivery.ts';
import { ffmpegArguments, type Output, recordingInput } from '../ffmpeg-command.ts';
import { planLadder } from '../ladder.ts';
import { PacketProgress } from '../packets.ts';
import type { VideoStream } from '../streams.ts';
import type { MediaTools } from '../tools/locate-tools.ts';
import { watched } from '../tools/output-watch.ts';
import { type RunLimits, runTool } from '../tools/run-tool.ts';
import { encodedLadder, type PictureWork, type Stretch } from './piece-plan.ts';

/** A file of a piece: the pictures of one rendition, or the sound as it was sent. */
export interface PieceFile {
  path: string;
  /** The rank of the rendition; null for the sound. */
  rank: number | null;
  /** The time of the recording, from its start, that is `OFFSET` in the file; in seconds. */
  begin: number;
  packets: number;
}

export interface PieceOptions extends RunLimits {
  /** The folder of the results, which has no other files. */
  folder: string;
  onProgress: (fraction: number) => void;
}

/** In seconds. Containers may store sound later than the pictures beside it, so reading begins earlier. */
const READ_BEFORE = 2;
/**
 * In seconds. Some containers have no times before 0, which the first pictures and the first sound may have.
 * Everything is later by this in the files of a piece.
 */
export const OFFSET = 10;
const HEADER_TIME_LIMIT_MS = 60_000;
/** In NUT, comes before the first packet. */
const SYNCPOINT = Buffer.from('4e4be4adeeca4569', 'hex');
const HEAD_BYTES = 256 * 1024;

/**
 * Encodes the pictures of a stretch in all renditions, and copies its sound, so that the files of all stretches follow
 * each other without a gap: each picture and each packet of sound belongs to exactly one of them.
 *
 * @throws {MediaFailure}
 */
export async function encodePiece(
  tools: MediaTools,
  work: PictureWork,
  stretch: Stretch,
  options: PieceOptions,
): Promise<PieceFile[]> {
  const { source } = work;
  const { video } = source;
  if (!video) throw new TypeError('Only pictures are encoded in pieces.');
  const times = timesOf(stretch, source, video);
  const pictures = pictureOutputs(work, times, options.folder);
  const sound = soundOutput(work, times, options.folder);
  const outputs = [...pictures, ...(sound ? [sound] : [])];
  const seconds = Math.max(1, (times.to ?? source.start + source.duration / 1000) - (times.from ?? source.start));
  const progress = new PacketProgress({ duration: seconds * 1000, packets: null }, options.onProgress);
  const seek =
    times.from === null ? [] : ['-noaccurate_seek', '-seek_timestamp', '1', '-ss', text(times.from - READ_BEFORE)];
  const input = recordingInput(source.recording, ['-copyts', ...seek, '-threads', String(threadsFor(video))]);
  const { options: paced, ...pacing } = pace({ index: video.index, copy: false });
  const reading = { ...pacing, options: [...paced.slice(0, 2), ...until(times.to), ...paced.slice(2)] };
  const args = ffmpegArguments(input, [...outputs, reading]);
  const size = (source.size * seconds * 1000) / Math.max(source.duration, 1);
  const streams = pictures.flatMap(({ rendition }) => streamsOf(rendition));
  const limit = { path: options.folder, maxBytes: largestResult({ size, duration: seconds * 1000 }, streams) };
  await watched(limit, options.signal, (signal) =>
    runTool(tools.ffmpeg, args, {
      signal,
      timeLimitMs: options.timeLimitMs,
      onOutput: (chunk) => progress.lines.add(chunk),
    }),
  );
  return Promise.all(
    outputs.map(async ({ target, rank, begin }) => {
      const packets = await countPackets(tools, target, options);
      return { path: target, rank, begin, packets };
    }),
  );
}

/** The borders of a stretch in the times of its container, in seconds. */
interface Times {
  /** Between the last picture before the stretch and its first one; null for the beginning. */
  from: number | null;
  /** Between its last picture and the next one; null for the end. */
  to: number | null;
  /** The time of the first picture on the grid. */
  grid: number;
  /** The same borders for the sound, between the times that its packets may have. */
  soundFrom: number | null;
  soundTo: number | null;
}

function timesOf({ from, to }: Stretch, source: PictureWork['source'], video: VideoStream): Times {
  const { start, soundTick } = source;
  const rate = deliveryRate(video);
  const at = (picture: number) => start + picture / rate;
  const between = (picture: number | null) => (picture === null ? null : at(picture - 0.5));
  const tick = soundTick ?? 1;
  const betweenSound = (picture: number | null) =>
    picture === null ? null : (Math.floor(at(picture) / tick) + 0.5) * tick;
  return {
    from: between(from),
    to: between(to),
    grid: at(from ?? 0),
    soundFrom: betweenSound(from),
    soundTo: betweenSound(to),
  };
}

interface PieceOutput extends Output {
  rank: number | null;
  begin: number;
}

function pictureOutputs(work: PictureWork, { from, to, grid }: Times, folder: string) {
  const borders = [from === null ? [] : [`start=${text(from)}`], to === null ? [] : [`end=${text(to)}`]].flat();
  const trim = borders.length > 0 ? [`trim=${borders.join(':')}`] : [];
  const cut = { parts: [], holdsLast: false, pictureFilters: [...trim, `setpts=PTS-${text(grid)}/TB`] };
  const { source, settings, hasCopy } = work;
  // The sound is encoded when the pieces are joined.
  const silent = { ...source, audio: undefined };
  const { renditions } = planLadder(silent, settings, true, cut);
  return renditions.slice(hasCopy ? 1 : 0).map((rendition) => ({
    rendition,
    rank: rendition.rank,
    begin: grid - source.start,
    target: join(folder, `pictures-${rendition.rank}`),
    options: [
      ...streamsOf(rendition).flatMap(({ index, options }) => ['-map', `0:${index}`, ...options]),
      ...CONTAINER,
    ],
  }));
}

function soundOutput(work: PictureWork, { soundFrom, soundTo }: Times, folder: string): PieceOutput | undefined {
  const { source } = work;
  const [first] = encodedLadder(work).renditions;
  if (!first?.audio) return undefined;
  const begin = soundFrom ?? 0;
  const borders = [
    ...(soundFrom === null ? [] : ['-ss', text(soundFrom), '-copypriorss', '0']),
    ...(soundTo === null ? [] : ['-t', text(soundTo - begin)]),
  ];
  return {
    rank: null,
    begin: begin - source.start,
    target: join(folder, 'sound'),
    options: ['-map', `0:${first.audio.index}`, '-c', 'copy', ...borders, ...CONTAINER],
  };
}

/** NUT keeps the times of any stream exactly. */
const CONTAINER = [
  ...['-max_muxing_queue_size', '4096', '-avoid_negative_ts', 'disabled', '-output_ts_offset', String(OFFSET)],
  ...['-f', 'nut'],
];

function until(time: number | null): string[] {
  return time === null ? [] : ['-t', text(time)];
}

function text(seconds: number): string {
  return seconds.toFixed(6);
}

/** Counts the packets of a file of a piece. Tools cannot read one without any, as of a minute without a new picture. */
async function countPackets(tools: MediaTools, path: string, { signal }: RunLimits): Promise<number> {
  if (!(await hasPackets(path))) return 0;
  const entries = ['-count_packets', '-show_entries', 'stream=nb_read_packets'];
  const args = ['-v', 'error', '-protocol_whitelist', 'file', '-f', 'nut', ...entries, '-print_format', 'json', path];
  const { output } = await runTool(tools.ffprobe, args, { signal, timeLimitMs: HEADER_TIME_LIMIT_MS });
  const { streams = [] } = JSON.parse(output.toString('utf8')) as { streams?: { nb_read_packets?: string }[] };
  return Number(streams[0]?.nb_read_packets ?? 0);
}

async function hasPackets(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead).includes(SYNCPOINT);
  } finally {
    await file.close();
  }
}
