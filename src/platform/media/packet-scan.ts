import { safeguards } from './command.ts';
import type { Recording } from './recording.ts';
import { Lines } from './tools/lines.ts';
import { type RunLimits, runTool } from './tools/process.ts';
import type { MediaTools } from './tools/tools.ts';

/** What reading all of a file tells. */
export interface Scan {
  /** Milliseconds from the first to the end of the last packet; null when there is no packet. */
  duration: number | null;
  /** Packets by stream. */
  packets: ReadonlyMap<number, number>;
}

/** Reads the times of all packets of some streams without decoding any. */
export async function scanPackets(
  tools: MediaTools,
  recording: Recording,
  streams: readonly number[],
  limits: RunLimits,
): Promise<Scan> {
  const timeline = new PacketTimeline(streams);
  const entries = ['-show_entries', 'packet=stream_index,pts_time,dts_time,duration_time'];
  const args = [...safeguards(recording), ...entries, '-print_format', 'compact=p=0', '-i', recording.path];
  await runTool(tools.ffprobe, ['-hide_banner', '-v', 'error', ...args], {
    ...limits,
    onOutput: (chunk) => timeline.add(chunk.toString('latin1')),
  });
  return timeline.end();
}

interface Extent {
  packets: number;
  first: number;
  last: number;
  end: number;
}

/** Adds up ffprobe's lines of the form `stream_index=0|pts_time=1.5|dts_time=1.4|duration_time=0.04`. */
export class PacketTimeline {
  readonly #extents: Map<number, Extent>;
  readonly #lines = new Lines((line) => this.#line(line));

  constructor(streams: readonly number[]) {
    this.#extents = new Map(
      streams.map((index) => [index, { packets: 0, first: Infinity, last: -Infinity, end: -Infinity }]),
    );
  }

  add(output: string): void {
    this.#lines.add(output);
  }

  end(): Scan {
    this.#lines.end();
    const extents = [...this.#extents.values()].filter(({ first }) => first !== Infinity);
    const first = Math.min(...extents.map((extent) => extent.first));
    const end = Math.max(...extents.map(endOf));
    return {
      duration: extents.length > 0 ? Math.max(0, Math.round((end - first) * 1000)) : null,
      packets: new Map([...this.#extents].map(([index, { packets }]) => [index, packets])),
    };
  }

  #line(line: string): void {
    const values = new Map(line.split('|').map((part) => part.split('=', 2) as [string, string | undefined]));
    const number = (name: string) => Number.parseFloat(values.get(name) ?? '');
    const extent = this.#extents.get(number('stream_index'));
    if (!extent) return;
    extent.packets += 1;
    const pts = number('pts_time');
    const time = Number.isNaN(pts) ? number('dts_time') : pts;
    if (Number.isNaN(time)) return;
    extent.first = Math.min(extent.first, time);
    extent.last = Math.max(extent.last, time);
    extent.end = Math.max(extent.end, time + (number('duration_time') || 0));
  }
}

/** Where packets carry no duration, the last one lasts as long as the others did. */
function endOf({ packets, first, last, end }: Extent): number {
  return end > last || packets < 2 ? end : last + (last - first) / (packets - 1);
}
