import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { sha256 } from '../../support/bytes.ts';
import type { ElementJson, EventJson, PublicationJson } from '../../support/client.ts';
import { clipFolder, recording, testTools } from '../../support/clips.ts';
import { eventFields, file } from '../../support/form.ts';
import type { Suite } from '../suite.ts';

const SECONDS = 2;

export const publishing: Suite = (product) => {
  describe('a recording of three tracks', () => {
    let answer: Response;
    let id: string;
    let event: EventJson;
    let publications: PublicationJson[];
    let publication: PublicationJson;
    const files = () => publication.media.filter(({ mediatype }) => mediatype !== 'application/x-mpegURL');
    const elements = () => [...publication.media, ...publication.attachments, ...publication.metadata];

    beforeAll(async () => {
      const { admin } = product();
      answer = await admin.upload([
        ...eventFields({
          title: 'Lecture <1> & more',
          acl: [{ role: 'ROLE_ANONYMOUS', action: 'read', allow: true }],
        }),
        file('presenter', 'presenter.mp4', await recording({ seconds: SECONDS })),
        file('presentation', 'presentation.mp4', await recording({ seconds: SECONDS, audio: false })),
        file('audio', 'sound.m4a', await recording({ seconds: SECONDS, video: false, container: 'm4a' })),
      ]);
      id = ((await answer.clone().json()) as { identifier: string }).identifier;
      event = await admin.processed(id);
      publications = await admin.publications(id);
      const [first] = publications;
      if (!first) throw new Error('The event has no publication.');
      publication = first;
    });

    test('is answered with 201, its identifier and where it is', async () => {
      const { server, admin } = product();
      expect(answer.status).toBe(201);
      expect(answer.headers.get('Content-Type')).toBe('application/v1.11.0+json');
      expect(await answer.json()).toEqual({ identifier: id });
      expect(answer.headers.get('Location')).toBe(`${server.url}/api/events/${id}`);
      expect((await admin.fetch(answer.headers.get('Location') ?? '')).status).toBe(200);
    });

    test('ends SUCCEEDED with the duration of its tracks', () => {
      expect(event).toMatchObject({
        processing_state: 'SUCCEEDED',
        status: 'EVENTS.EVENTS.STATUS.PROCESSED',
        publication_status: ['engage-player'],
        creator: 'Administrator',
      });
      expect(Math.abs(Number(event.duration) - SECONDS * 1000)).toBeLessThan(150);
    });

    test('becomes one publication with a medium for each track', () => {
      expect(publications).toHaveLength(1);
      expect(publication).toMatchObject({ channel: 'engage-player', mediatype: 'text/html' });
      const media = publication.media.map(({ flavor, has_audio, has_video, mediatype }) => ({
        flavor,
        has_audio,
        has_video,
        mediatype,
      }));
      const presenter = { flavor: 'presenter/delivery', has_audio: true, has_video: true };
      const presentation = { flavor: 'presentation/delivery', has_audio: false, has_video: true };
      const sound = { flavor: 'presenter-audio/delivery', has_audio: true, has_video: false };
      const PLAYLIST = 'application/x-mpegURL';
      expect(media).toEqual([
        ...[
          { ...presenter, mediatype: 'video/mp4' },
          { ...presenter, mediatype: PLAYLIST },
        ],
        ...[
          { ...presentation, mediatype: 'video/mp4' },
          { ...presentation, mediatype: PLAYLIST },
        ],
        ...[
          { ...sound, mediatype: 'audio/mp4' },
          { ...sound, mediatype: 'audio/mp4' },
          { ...sound, mediatype: PLAYLIST },
        ],
      ]);
      expect(publication.attachments.length).toBeGreaterThan(0);
      expect(publication.metadata.map(({ flavor }) => flavor)).toEqual(['dublincore/episode']);
    });

    test('is shown alone as in the list of publications', async () => {
      expect(await product().admin.json(`/api/events/${id}/publications/${publication.id}`)).toEqual(publication);
    });

    test('can be downloaded by everybody, with the sizes and checksums that are told', async () => {
      for (const element of elements()) {
        const download = await fetch(element.url);
        const bytes = Buffer.from(await download.arrayBuffer());
        expect(download.status).toBe(200);
        expect(download.headers.get('Content-Type')).toBe(element.mediatype);
        expect(download.headers.get('Content-Length')).toBe(String(element.size));
        expect(bytes.length).toBe(element.size);
        expect(`${sha256(bytes)} (sha256)`).toBe(element.checksum);
      }
    });

    test('has media that ffprobe accepts', async () => {
      for (const medium of files()) {
        const { streams, format } = await ffprobe(medium);
        const kinds = streams.map(({ codec_name }) => codec_name).sort();
        expect(kinds).toEqual([...(medium.has_audio ? ['aac'] : []), ...(medium.has_video ? ['h264'] : [])]);
        expect(Math.abs(Number(format.duration) - SECONDS)).toBeLessThan(0.15);
      }
    });

    test('is sent in ranges, without a body, or not again, as the client asks', async () => {
      const [medium] = publication.media;
      const url = medium?.url ?? '';
      const whole = Buffer.from(await (await fetch(url)).arrayBuffer());

      const part = await fetch(url, { headers: { Range: 'bytes=100-199' } });
      expect(part.status).toBe(206);
      expect(part.headers.get('Content-Range')).toBe(`bytes 100-199/${whole.length}`);
      expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(100, 200));

      const end = await fetch(url, { headers: { Range: 'bytes=-50' } });
      expect(end.status).toBe(206);
      expect(Buffer.from(await end.arrayBuffer())).toEqual(whole.subarray(-50));

      const beyond = await fetch(url, { headers: { Range: `bytes=${whole.length}-` } });
      expect(beyond.status).toBe(416);
      expect(beyond.headers.get('Content-Range')).toBe(`bytes */${whole.length}`);

      const head = await fetch(url, { method: 'HEAD' });
      expect(head.status).toBe(200);
      expect(head.headers.get('Content-Length')).toBe(String(whole.length));
      expect(head.headers.get('Accept-Ranges')).toBe('bytes');
      expect(await head.text()).toBe('');

      const etag = head.headers.get('ETag') ?? '';
      const again = await fetch(url, { headers: { 'If-None-Match': etag } });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe('');
    });

    test('has a page to watch it on', async () => {
      const page = await fetch(publication.url);
      const html = await page.text();
      expect(page.status).toBe(200);
      expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
      expect(html).toContain('Lecture &lt;1&gt; &amp; more');
      for (const { id } of files()) expect(html).toContain(id);
    });
  });
};

interface Probed {
  streams: { codec_name: string }[];
  format: { duration: string };
}

async function ffprobe({ id, url }: ElementJson): Promise<Probed> {
  const path = join(clipFolder(), `${id}.download`);
  await writeFile(path, Buffer.from(await (await fetch(url)).arrayBuffer()));
  const show = ['-show_entries', 'stream=codec_name:format=duration', '-of', 'json'];
  const { ffprobe } = await testTools();
  const { output } = await runTool(ffprobe, ['-v', 'error', ...show, path], { timeLimitMs: 30_000 });
  return JSON.parse(output.toString());
}
