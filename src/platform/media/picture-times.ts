import { ffmpegArguments, recordingInput } from './command.ts';
import type { MediaInfo } from './probe.ts';
import { Lines } from './tools/lines.ts';
import { type RunLimits, runTool } from './tools/process.ts';
import type { MediaTools } from './tools/tools.ts';

const TIME_BASE = /^#tb 0: (\d+)\/(\d+)/;
const PACKET = /^0,\s*(-?\d+),\s*(-?\d+),/;
const UNKNOWN = -(2 ** 63);

/**
 * Tells when each picture of a recording is shown, without decoding any: in seconds and in the order of the file, as
 * ffmpeg counts them when it decodes the same streams.
 *
 * @param limits with options for the input, such as how far to read
 * @throws {MediaFailure}
 */
export async function readPictureTimes(
  tools: MediaTools,
  { recording, video, audio }: Pick<MediaInfo, 'recording' | 'video' | 'audio'>,
  onPicture: (time: number) => void,
  { inputOptions, ...limits }: RunLimits & { inputOptions: string[] },
): Promise<void> {
  let tick = 0;
  const lines = new Lines((line) => {
    const base = TIME_BASE.exec(line);
    if (base) tick = Number(base[1]) / Number(base[2]);
    const packet = PACKET.exec(line);
    if (!packet) return;
    const [decoded, shown] = [Number(packet[1]), Number(packet[2])];
    onPicture((shown === UNKNOWN ? decoded : shown) * tick);
  });
  const streams = [video, audio].filter((stream) => stream !== undefined);
  const maps = streams.flatMap(({ index }) => ['-map', `0:${index}`]);
  const output = { target: 'pipe:1', options: [...maps, '-c', 'copy', '-f', 'framecrc'] };
  await runTool(tools.ffmpeg, ffmpegArguments(recordingInput(recording, inputOptions), [output]), {
    ...limits,
    onOutput: (chunk) => lines.add(chunk.toString('latin1')),
  });
  lines.end();
}
