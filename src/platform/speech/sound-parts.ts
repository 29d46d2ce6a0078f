import { stat } from 'node:fs/promises';
import type { KeptPart } from '../media/cutting.ts';
import { ffmpegArguments, recordingInput } from '../media/ffmpeg-command.ts';
import type { MediaInfo } from '../media/probe.ts';
import type { AudioStream } from '../media/streams.ts';
import type { MediaTools } from '../media/tools/locate-tools.ts';
import { type RunLimits, runTool } from '../media/tools/run-tool.ts';

const SAMPLING_RATE = 16_000;
/** FLAC without samples is smaller, and only silence is as small. */
const EMPTY_BYTES = 300;
/** Shorter sounds have no words, and recognizers reject them. */
const SHORTEST_MS = 500;

/** The lengths of parts, in milliseconds. */
export interface PartLengths {
  part: number;
  overlap: number;
}

/** A part of ten minutes has at most 19.2 MB. Hosted recognizers take 25 MB. */
export const PART_LENGTHS: PartLengths = { part: 600_000, overlap: 15_000 };

/** Divides the kept parts of a recording into parts for a recognizer. Those of one kept part overlap. */
export function planSoundParts(kept: readonly KeptPart[], { part, overlap } = PART_LENGTHS): KeptPart[] {
  return kept.flatMap(({ begin, end }) => {
    if (end - begin < SHORTEST_MS) return [];
    const count = Math.max(1, Math.ceil((end - begin - overlap) / (part - overlap)));
    return Array.from({ length: count }, (_, i) => {
      const from = begin + i * (part - overlap);
      return { begin: from, end: Math.min(from + part, end) };
    });
  });
}

/**
 * Writes a part of the sound of a recording as FLAC with one channel.
 *
 * @returns false if the recording has no sound there
 * @throws {MediaFailure}
 */
export async function writeSoundPart(
  tools: MediaTools,
  { recording }: Pick<MediaInfo, 'recording'>,
  { index }: AudioStream,
  { begin, end, target }: KeptPart & { target: string },
  limits: RunLimits,
): Promise<boolean> {
  const seconds = (ms: number) => (ms / 1000).toFixed(3);
  const input = recordingInput(recording, ['-ss', seconds(begin), '-t', seconds(end - begin)]);
  const filters = ['-af', `aresample=${SAMPLING_RATE}:async=1:first_pts=0`];
  const format = ['-ac', '1', '-sample_fmt', 's16', '-c:a', 'flac', '-metadata_header_padding', '0', '-f', 'flac'];
  const options = ['-map', `0:${index}`, ...filters, ...format];
  await runTool(tools.ffmpeg, ffmpegArguments(input, [{ target, options }]), limits);
  const file = await stat(target).catch(() => undefined);
  return file !== undefined && file.size > EMPTY_BYTES;
}
