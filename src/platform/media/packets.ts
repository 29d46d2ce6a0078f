import { ffmpegArguments, recordingInput, safeguards } from './ffmpeg-command.ts';
import { PictureRate } from './picture-rate.ts';
import type { Recording } from './recording.ts';
import type { AudioStream, VideoStream } from './streams.ts';
import type { MediaTools } from './tools/locate-tools.ts';
import { type RunLimits, runTool } from './tools/run-tool.ts';

/** Longer than any line that the tools are asked for. */
const MAX_LINE = 4096;
const TIME_BASE = /^#tb 0: (\d+)\/(\d+)/;
const PACKET = /^0,\s*(-?\d+),\s*(-?\d+),/;
/** Packets with flags other than that of a key frame. */
const NO_KEYFRAME = /, F=0x/;
const UNKNOWN_TIME = -(2 ** 63);
/** When all packets are read, some are not yet written: only the exit of the tool is the end. */
const ALL_READ = 0.99;

/** Splits the output of a tool into lines. Drops lines that are too long. */
export class Lines {
  readonly #onLine: (line: string) => void;
  #rest = '';
  #dropping = false;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(output: string | Buffer): void {
    const [first = '', ...others] = (typeof output === 'string' ? output : output.toString('latin1')).split('\n');
    this.#append(first);
    for (const start of others) {
      this.end();
      this.#append(start);
    }
  }

  /** Ends the last line, which may have no line break. */
  end(): void {
    const [line, whole] = [this.#rest, !this.#dropping];
    this.#rest = '';
    this.#dropping = false;
    if (whole) this.#onLine(line);
  }

  #append(text: string): void {
    if (this.#dropping || this.#rest.length + text.length > MAX_LINE) {
      this.#dropping = true;
      this.#rest = '';
    } else this.#rest += text;
  }
}

/** Parses ffmpeg's framecrc format: the decoding and the presentation time of each packet, in seconds. */
function framecrcLines(onPacket: (decoded: number, shown: number, isKeyframe: boolean) => void): Lines {
  let tick = 0;
  return new Lines((line) => {
    const base = TIME_BASE.exec(line);
    if (base) tick = Number(base[1]) / Number(base[2]);
    const packet = PACKET.exec(line);
    if (!packet) return;
    const [decoded, shown] = [Number(packet[1]), Number(packet[2])];
    onPacket(decoded * tick, (shown === UNKNOWN_TIME ? decoded : shown) * tick, !NO_KEYFRAME.test(line));
  });
}

/**
 * Turns ffmpeg's framecrc format into a fraction of the work: of the packets or, if their number is unknown (null), of
 * the duration in milliseconds. So packets that are hours apart count no more than others.
 */
export class PacketProgress {
  readonly lines: Lines;
  #keyframe: number | undefined;
  #keyframeSeconds = 0;
  #earliest = 0;
  #firstLead: number | undefined;
  #leadSeconds = 0;
  #hasOpenGop = false;

  constructor({ duration, packets }: { duration: number; packets: number | null }, report: (fraction: number) => void) {
    let start: number | undefined;
    let count = 0;
    this.lines = framecrcLines((seconds, shown, isKeyframe) => {
      count += 1;
      start ??= seconds;
      const fraction = packets ? count / packets : ((seconds - start) * 1000) / duration;
      if (Number.isFinite(fraction)) report(Math.min(ALL_READ, Math.max(0, fraction)));
      this.#earliest = Math.min(this.#earliest, shown);
      this.#keyframeSeconds = Math.max(this.#keyframeSeconds, shown - (this.#keyframe ?? shown));
      if (isKeyframe) {
        this.#keyframe = shown;
        this.#firstLead ??= shown - seconds;
        this.#leadSeconds = Math.max(this.#leadSeconds, shown - seconds - this.#firstLead);
      } else if (this.#keyframe !== undefined && shown < this.#keyframe) this.#hasOpenGop = true;
    });
  }

  /** The longest time from a key frame to the next one or to the end, in seconds. */
  get keyframeSeconds(): number {
    return this.#keyframeSeconds;
  }

  /** The seconds by which the first packet comes before the start, as those that an edit list hides. */
  get hiddenSeconds(): number {
    return -this.#earliest;
  }

  /** The longest time from decoding a key frame to showing it, beyond that of the first one, in seconds. */
  get leadSeconds(): number {
    return this.#leadSeconds;
  }

  /**
   * True if a picture is shown before the key frame that it follows. It refers to earlier pictures, without which
   * browsers stop at it, also at the beginning of a file.
   */
  get hasOpenGop(): boolean {
    return this.#hasOpenGop;
  }
}

/**
 * Reads when each picture of a recording is shown, without decoding: in seconds, in the order of the file, as ffmpeg
 * counts them when it decodes the same streams.
 *
 * @param limits.inputOptions options for the input, such as how far to read
 * @throws {MediaFailure}
 */
export async function readPictureTimes(
  tools: MediaTools,
  { recording, video, audio }: { recording: Recording; video: VideoStream | undefined; audio: AudioStream | undefined },
  onPicture: (time: number) => void,
  { inputOptions, ...limits }: RunLimits & { inputOptions: string[] },
): Promise<void> {
  const lines = framecrcLines((_, shown) => onPicture(shown));
  const maps = [video, audio].flatMap((stream) => (stream ? ['-map', `0:${stream.index}`] : []));
  const output = { target: 'pipe:1', options: [...maps, '-c', 'copy', '-f', 'framecrc'] };
  const args = ffmpegArguments(recordingInput(recording, inputOptions), [output]);
  await runTool(tools.ffmpeg, args, { ...limits, onOutput: (chunk) => lines.add(chunk) });
  lines.end();
}

/** Formats whose files can be joined by appending them, so that times begin again within a file. */
const JOINABLE = ['mpegts', 'mpeg'];
/** In seconds, as ffmpeg has them: the longest pause in such a file, and the longest step back of a stream. */
const LONGEST_PAUSE = 10;
const LONGEST_STEP_BACK = 0.1;

/** The result of reading a whole file. */
export type Scan = ReturnType<PacketTimeline['end']>;

/** Reads the times of all packets of some streams, without decoding. */
export async function scanPackets(
  tools: MediaTools,
  recording: Recording,
  streams: readonly number[],
  limits: RunLimits,
): Promise<Scan> {
  const timeline = new PacketTimeline(streams, JOINABLE.includes(recording.demuxer));
  const entries = ['-show_entries', 'packet=stream_index,pts_time,dts_time,duration_time,flags'];
  const args = [...safeguards(recording), ...entries, '-print_format', 'compact=p=0', '-i', recording.path];
  const onOutput = (chunk: Buffer) => timeline.lines.add(chunk);
  await runTool(tools.ffprobe, ['-hide_banner', '-v', 'error', ...args], { ...limits, onOutput });
  return timeline.end();
}

interface Extent {
  packets: number;
  first: number;
  /** The time of the first key frame. */
  key: number | undefined;
  last: number;
  end: number;
  /** When the latest packet is decoded. */
  decoded: number | undefined;
  /** Undefined once a packet has no time of presentation. */
  rate: PictureRate | undefined;
}

/** Sums up ffprobe's lines of the form `stream_index=0|pts_time=1.5|dts_time=1.4|duration_time=0.04|flags=K_`. */
export class PacketTimeline {
  readonly lines = new Lines((line) => this.#add(line));
  readonly #extents: Map<number, Extent>;
  readonly #isJoinable: boolean;
  #decoded: number | undefined;
  /** Seconds to add to the times of the current part of joined files. */
  #shift = 0;

  constructor(streams: readonly number[], isJoinable = false) {
    this.#isJoinable = isJoinable;
    this.#extents = new Map(
      streams.map((index) => {
        const rate = new PictureRate();
        const times = { first: Infinity, key: undefined, last: -Infinity, end: -Infinity, decoded: undefined };
        return [index, { packets: 0, ...times, rate }];
      }),
    );
  }

  end() {
    this.lines.end();
    const extents = [...this.#extents.values()].filter(({ first }) => first !== Infinity);
    const first = Math.min(...extents.map((extent) => extent.first));
    const end = Math.max(...extents.map(endOfStream));
    return {
      /** Milliseconds from the first packet to the end of the last; null without packets. */
      duration: extents.length > 0 ? Math.max(0, Math.round((end - first) * 1000)) : null,
      /** Packets by stream. */
      packets: new Map([...this.#extents].map(([index, { packets }]) => [index, packets])),
      /** The times of the first packet, the first that can be decoded and the last one, in seconds; by stream. */
      spans: new Map(
        [...this.#extents].flatMap(([index, { first, key = first, last }]) =>
          first === Infinity ? [] : [[index, { first, begin: key, end: last }] as const],
        ),
      ),
      /** The lowest packets per second that lose none, by stream; null where the packets do not tell. */
      rates: new Map([...this.#extents].map(([index, { rate }]) => [index, rate?.end() ?? null])),
    };
  }

  #add(line: string): void {
    const values = new Map(line.split('|').map((part) => part.split('=', 2) as [string, string | undefined]));
    const number = (name: string) => Number.parseFloat(values.get(name) ?? '');
    const extent = this.#extents.get(number('stream_index'));
    if (!extent) return;
    extent.packets += 1;
    const length = number('duration_time') || 0;
    if (this.#isJoinable) this.#join(extent, number('dts_time'), length);
    const pts = number('pts_time') + this.#shift;
    const time = Number.isNaN(pts) ? number('dts_time') + this.#shift : pts;
    if (Number.isNaN(pts)) extent.rate = undefined;
    extent.rate?.add(pts);
    if (Number.isNaN(time)) return;
    extent.first = Math.min(extent.first, time);
    if (values.get('flags')?.startsWith('K')) extent.key ??= time;
    extent.last = Math.max(extent.last, time);
    extent.end = Math.max(extent.end, time + length);
  }

  /** Continues from the last time where times jump, as ffmpeg does: all streams by the same. */
  #join(extent: Extent, decoded: number, length: number): void {
    if (Number.isNaN(decoded)) return;
    const last = extent.decoded ?? this.#decoded ?? decoded;
    const step = decoded + this.#shift - last;
    const longestBack = extent.decoded === undefined ? LONGEST_PAUSE : LONGEST_STEP_BACK;
    if (step > LONGEST_PAUSE || step < -longestBack) this.#shift += length - step;
    extent.decoded = decoded + this.#shift;
    this.#decoded = extent.decoded;
  }
}

/** Assumes the average duration for the last packet if packets carry none. */
function endOfStream({ packets, first, last, end }: Extent): number {
  return end > last || packets < 2 ? end : last + (last - first) / (packets - 1);
}
