import { createReadStream, mkdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { locateTools } from '../../../src/platform/media/tools/locate-tools.ts';
import { type ClipOptions, clip } from '../../../test/support/clips.ts';
import { SseReader, type StreamMessage } from '../../../test/support/sse.ts';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import { type Row, ratios, type Table } from '../support/figures.ts';
import { type ApiAddress, postEvent, type TrackSource } from '../support/http-client.ts';
import { alternate } from '../support/rounds.ts';
import { RecordedTools } from './recorded-tools.ts';

const ROUNDS = 3;
const AIM = 1.15;
const LOOK_MS = 10;

/** From upload to SUCCEEDED, against the commands that the workflow runs and nothing else. */
export async function measureWorkflow(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick } = bench.options;
  const [seconds, size] = quick ? [2, '320x180'] : [60, '1280x720'];
  // Large enough for three renditions.
  const large = quick ? '640x360' : '1920x1080';
  const clips: Record<string, ClipOptions> = {
    [`playable as it is (H.264, AAC in MP4, ${size})`]: {
      seconds,
      video: { size, options: ['-preset', 'veryfast'] },
      audio: true,
    },
    [`to be encoded (VP8, Vorbis in WebM, ${large})`]: {
      seconds,
      container: 'webm',
      video: { size: large, options: ['-b:v', '3M', '-deadline', 'realtime', '-cpu-used', '8'] },
      audio: true,
    },
  };
  const rows: Row[] = [];
  for (const [label, options] of Object.entries(clips)) {
    rows.push(await measureClip(bench, label, fileTrack(await clip(options)), onRound));
  }
  return {
    name: 'workflow',
    title: `From upload to SUCCEEDED: clips of ${seconds} s, against the bare commands of their workflows`,
    notes: [
      'commands: the ffprobe and ffmpeg commands as the workflow ran them, one after the other from a shell script.',
      'Inlet: API, relay and worker in one process (npm start), from the first byte sent to SUCCEEDED in the stream of changes.',
      'best rendition: the bare command that makes it, alone (a copy) or with the others; published: until the stream tells of a publication.',
    ],
    rows,
  };
}

async function measureClip(
  bench: Bench,
  label: string,
  track: TrackSource,
  onRound: (round: number) => void,
): Promise<Row> {
  const real = await locateTools(bench.config);
  const folder = join(bench.folder, `recorded-${basename(track.filename)}`);
  mkdirSync(folder);
  const recorded = new RecordedTools(folder, real);
  const recording = await startInlet(bench, 'main', variables(recorded.tools));
  await untilSucceeded(recording.api, track);
  await recording.stop();
  // Without those of the start, which ask for encoders and filters.
  const { run, commands } = recorded.replay((args) => args.includes('-i'));
  const best = recorded.replay((args) => args.some((arg) => arg.endsWith('/rendition-0')));

  const inlet = await startInlet(bench, 'main', variables(real));
  const measurements = {
    commands: () => timed(run),
    inlet: () => untilSucceeded(inlet.api, track).then(({ succeeded }) => succeeded),
    best: () => timed(best.run),
    published: () => untilSucceeded(inlet.api, track).then(({ published }) => published),
  };
  const { quick, rounds = quick ? 1 : ROUNDS } = bench.options;
  // The commands have warmed up already, by being recorded.
  if (!quick) await measurements.inlet();
  const times = await alternate(rounds, measurements, onRound);
  await inlet.stop();
  await bench.reset();
  return {
    label,
    figures: {
      'how many': { unit: 'count', samples: [commands] },
      commands: { unit: 'ms', samples: times.commands },
      Inlet: { unit: 'ms', samples: times.inlet },
      'Inlet / commands': {
        unit: 'ratio',
        samples: ratios(times.inlet, times.commands),
        aim: { atMost: AIM },
      },
      'best rendition': { unit: 'ms', samples: times.best },
      published: { unit: 'ms', samples: times.published },
      'published / best rendition': { unit: 'ratio', samples: ratios(times.published, times.best) },
    },
  };
}

const variables = (tools: { ffmpeg: string; ffprobe: string }) => ({
  FFMPEG_PATH: tools.ffmpeg,
  FFPROBE_PATH: tools.ffprobe,
});

/** Uploads a track. @returns the milliseconds until it was published first, and until its workflow had succeeded */
async function untilSucceeded(api: ApiAddress, track: TrackSource): Promise<{ published: number; succeeded: number }> {
  const started = performance.now();
  const id = await postEvent(api, { workflow: 'schedule-and-upload', track });
  const headers = {
    Authorization: `Basic ${btoa(`${api.username}:${api.password}`)}`,
    'Last-Event-ID': '0',
  };
  const changes = await SseReader.open((signal) => fetch(`${api.url}/api/events/${id}/updates`, { headers, signal }));
  const until = async (isIt: (change: StreamMessage) => boolean) => {
    while (!changes.messages.some(isIt)) {
      const failed = changes.messages.some(({ data }) => data.state === 'FAILED');
      if (failed || changes.ended) throw new Error('The workflow has failed, or the stream of changes has ended.');
      await sleep(LOOK_MS);
    }
    return performance.now() - started;
  };
  const published = await until(({ kind }) => kind === 'publication.published');
  const succeeded = await until(({ kind, data }) => kind === 'workflow.state' && data.state === 'SUCCEEDED');
  changes.close();
  return { published, succeeded };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function fileTrack(path: string): TrackSource {
  return {
    bytes: statSync(path).size,
    filename: basename(path),
    content: () => createReadStream(path, { highWaterMark: 2 ** 18 }),
  };
}
