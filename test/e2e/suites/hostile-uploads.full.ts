import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hostile, hostileMedia } from '../../corpus/media/index.ts';
import type { Client, EventJson } from '../../support/client.ts';
import { recording } from '../../support/clips.ts';
import { eventFields, file } from '../../support/form.ts';
import { expectNothingLeftOver } from '../../support/leftovers.ts';
import type { Suite } from '../suite.ts';

/** More at once would only wait. */
const UPLOADS = 6;
const LIMIT_MS = 600_000;
/** What has no place in a sentence for people: paths, addresses, numbers of memory, names of programs and signals. */
const JARGON = /\/|\\|0x|[{}<>[\]@=_]|ffmpeg|ffprobe|libav|SIG[A-Z]|demux|codec_|null|undefined|NaN|errno/i;

interface Outcome {
  file: Hostile;
  event: EventJson;
  operations: { operation: string; state: string; attempts: number; reason: string | null }[];
}

/** The corpus of hostile media, sent as anybody may send it. */
export const hostileUploads: Suite = (product) => {
  describe('hostile media', () => {
    let outside: Bait;
    let outcomes: Outcome[];
    beforeAll(async () => {
      outside = await startBait();
      const { admin } = product();
      const queue = [...(await hostileMedia(outside.url))];
      const sent: { file: Hostile; id: string }[] = [];
      const sender = async () => {
        for (let next = queue.shift(); next; next = queue.shift())
          sent.push({ file: next, id: await send(admin, next) });
      };
      await Promise.all(Array.from({ length: UPLOADS }, sender));
      outcomes = [];
      for (const { file, id } of sent) {
        const event = await admin.processed(id, LIMIT_MS);
        const [workflow] = await admin.json<Pick<Outcome, 'operations'>[]>(`/admin/events/${id}/workflows`);
        outcomes.push({ file, event, operations: workflow?.operations ?? [] });
      }
    }, LIMIT_MS);
    afterAll(() => outside?.close());

    /** What is not as it should be, by the name of the file. */
    const wrong = (look: (outcome: Outcome) => unknown) =>
      outcomes.flatMap((outcome) => {
        const found = look(outcome);
        return found ? [`${outcome.file.name}: ${found}`] : [];
      });

    test('each ends, as it must where that is not open', () => {
      expect(outcomes.length).toBeGreaterThan(60);
      const ends = wrong(({ file, event }) => {
        const states = file.ends ? [file.ends] : ['SUCCEEDED', 'FAILED'];
        return states.includes(event.processing_state) ? '' : event.processing_state;
      });
      expect(ends).toEqual([]);
    });

    test('none is tried more than twice', () => {
      const tried = wrong(({ operations }) => {
        const most = Math.max(...operations.map(({ attempts }) => attempts));
        return most > 1 ? `${most + 1} attempts` : '';
      });
      expect(tried).toEqual([]);
    });

    test('who sent one that failed is told why in a sentence', () => {
      const reasons = wrong(({ event, operations }) => {
        if (event.processing_state !== 'FAILED') return '';
        const reason = operations.find(({ state }) => state === 'failed')?.reason ?? '';
        const sentence = /^[A-Z].{20,250}[.)]$/.test(reason) && !JARGON.test(reason);
        return sentence ? '' : reason || 'no reason';
      });
      expect(reasons).toEqual([]);
    });

    test('nothing that they name was asked for, nothing is left of them, and the next recording is processed', async () => {
      const { admin, server } = product();
      expect(outside.connections()).toBe(0);
      const sound = file('presenter', 'lecture.mp4', await recording({ seconds: 1 }));
      const event = await admin.processed(await admin.create([...eventFields(), sound]));
      expect(event.processing_state).toBe('SUCCEEDED');
      await expectNothingLeftOver(server);
    });
  });
};

/** Captions come with a sound recording, as they do. */
async function send(admin: Client, hostile: Hostile): Promise<string> {
  const { field = 'presenter', filename = 'lecture.mp4', bytes } = hostile;
  const parts = [...eventFields(), file(field, filename, bytes)];
  if (field !== 'presenter') parts.push(file('presenter', 'lecture.mp4', await recording({ seconds: 1 })));
  return admin.create(parts);
}

interface Bait {
  /** With a slash at its end. */
  url: string;
  connections(): number;
  close(): Promise<unknown>;
}

/** A server that nobody is to ask. */
async function startBait(): Promise<Bait> {
  let connections = 0;
  const server = createServer((_request, response) => response.end('caught'));
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
