import { describe, expect, test } from 'vitest';
import { CaptureAgent } from '../../support/capture-agent.ts';
import { recording } from '../../support/clips.ts';
import { eventually } from '../../support/eventually.ts';
import { eventFields, field, file } from '../../support/form.ts';
import { episode, packageId } from '../../support/packages.ts';
import { parseAsPyca } from '../../support/pyca.ts';
import { zipOf } from '../../support/zip.ts';
import type { Product, Suite } from '../suite.ts';

const SECONDS = 2;
const PROPERTIES = 'org.opencastproject.capture.agent.properties';
const CONFIG = 'org.opencastproject.workflow.config.';

/** Recordings as agents and recorders bring them, from their schedule to what is published. */
export const recorders: Suite = (product) => {
  describe('capture agents and recorders', () => {
    test.each(['basic', 'digest'] as const)('as pyCA records, with %s', async (scheme) => {
      const { server, admin } = product();
      const name = `Hörsaal_1/2_ä ${scheme}`;
      const pyca = await CaptureAgent.create(server, `pyca-${scheme}`, scheme, '--agent-id', name);
      const at = encodeURIComponent(name);
      const service = async (type: string) => {
        // Ingest is 503 while the storage takes long to answer, as a busy disk does.
        const found = await eventually(async () =>
          JSON.parse(await pyca.text('GET', `/services/available.json?serviceType=org.opencastproject.${type}`)),
        );
        const { host, path, online, active } = found.services.service;
        expect([online, active]).toEqual([true, true]);
        return new URL(host + path).pathname;
      };
      const captureAdmin = await service('capture.admin');
      const says = (state: string) =>
        pyca.multipart(`${captureAdmin}/agents/${at}`, [field('address', 'http://pyca.test'), field('state', state)]);
      await says('idle');
      const id = await scheduled(product(), name);
      const cutoff = Date.now() + 14 * 86_400_000;
      const events = parseAsPyca(
        await pyca.text('GET', `${await service('scheduler')}/calendars?agentid=${at}&cutoff=${cutoff}`),
      );
      expect(events.map(({ uid }) => uid)).toEqual([id]);
      const recordingSays = (state: string) =>
        pyca.multipart(`${captureAdmin}/recordings/${id}`, [field('state', state)]);
      for (const state of ['capturing', 'capture_finished', 'uploading']) await recordingSays(state);
      expect((await admin.event(id)).status).toBe('EVENTS.EVENTS.STATUS.INGESTING');
      const ingest = await service('ingest');
      let mediaPackage = await pyca.text('GET', `${ingest}/createMediaPackage`);
      for (const flavor of ['presenter/source', 'presentation/source']) {
        mediaPackage = await pyca.multipart(`${ingest}/addTrack`, [
          field('mediaPackage', mediaPackage),
          field('flavor', flavor),
          file('BODY1', 'recording.mp4', await recording({ seconds: SECONDS })),
        ]);
      }
      const properties = events[0]?.attach.find(({ filename }) => filename === PROPERTIES)?.data ?? '';
      const flags = properties
        .split('\n')
        .filter((line) => line.startsWith(CONFIG))
        .map((line) => line.slice(CONFIG.length).split('=', 2));
      await pyca.multipart(`${ingest}/ingest`, [
        field('mediaPackage', mediaPackage),
        field('workflowDefinitionId', /definition=(.*)/.exec(properties)?.[1] ?? ''),
        field('workflowInstanceId', id),
        ...flags.map(([key = '', value = '']) => field(key, value)),
      ]);
      await recordingSays('upload_finished');
      await says('idle');
      expect(await published(product(), id)).toEqual([SECONDS, SECONDS]);
      const other = await pyca.send('POST', `${captureAdmin}/agents/somebody`, {
        body: new URLSearchParams({ state: 'idle' }),
      });
      expect(other.status).toBe(403);
    });

    test('as Galicaster records, with a zip', async () => {
      const { server, admin } = product();
      const galicaster = await CaptureAgent.create(server, 'galicaster', 'digest');
      await galicaster.text('GET', '/info/me.json');
      await galicaster.urlencoded('/capture-admin/agents/galicaster', { address: '10.0.0.1', state: 'idle' });
      await galicaster.urlencoded('/capture-admin/agents/galicaster/configuration', {
        configuration:
          '<?xml version="1.0"?><!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd"><properties version="1.0"><entry key="capture.device.names">cam</entry></properties>',
      });
      const id = await scheduled(product(), 'galicaster');
      const calendar = '/recordings/calendars?agentid=galicaster';
      const first = await galicaster.send('GET', calendar, { headers: { 'If-None-Match': '-1' } });
      expect(parseAsPyca(await first.text()).map(({ uid }) => uid)).toEqual([id]);
      const again = await galicaster.send('GET', calendar, {
        headers: { 'If-None-Match': first.headers.get('ETag') ?? '' },
      });
      expect(again.status).toBe(304);
      const zip = zipOf([
        {
          name: 'manifest.xml',
          content:
            '<mediapackage xmlns="http://mediapackage.opencastproject.org" id="gc-1"><media><track type="presenter/source"><url>CAMERA.mp4</url></track></media><metadata><catalog type="dublincore/episode"><url>episode.xml</url></catalog></metadata></mediapackage>',
        },
        { name: 'CAMERA.mp4', content: Buffer.from(await recording({ seconds: SECONDS })) },
        { name: 'episode.xml', content: episode({ title: 'As the agent knew it' }) },
      ]);
      await galicaster.multipart('/ingest/addZippedMediaPackage', [
        field('workflowDefinitionId', 'schedule-and-upload'),
        field('workflowInstanceId', id),
        field('straightToPublishing', 'true'),
        file('track', 'mediaPackage.zip', zip),
      ]);
      expect(await published(product(), id)).toEqual([SECONDS]);
      expect((await admin.event(id)).title).toBe('By the schedule');
    });

    test('as Studio records, cut', async () => {
      const { server } = product();
      const studio = await CaptureAgent.create(server, 'studio', 'basic', '--roles', 'ROLE_STUDIO');
      let mediaPackage = await studio.text('GET', '/ingest/createMediaPackage');
      mediaPackage = await studio.multipart('/ingest/addDCCatalog', [
        field('mediaPackage', mediaPackage),
        field('dublinCore', encodeURIComponent(episode({ title: 'Studio täst' }))),
        field('flavor', 'dublincore/episode'),
      ]);
      for (const [flavor, container] of [
        ['presenter/source', 'webm'],
        ['presentation/source', 'mp4'],
      ] as const) {
        mediaPackage = await studio.multipart('/ingest/addTrack', [
          field('mediaPackage', mediaPackage),
          field('flavor', flavor),
          field('tags', ''),
          file('BODY', 'Studio täst & <upload> 100%.webm', await recording({ seconds: 4, container })),
        ]);
      }
      const smil =
        '<smil xmlns="http://www.w3.org/ns/SMIL"><body><par><video clipBegin="1.5s" clipEnd="1.7976931348623157e+308s"/></par></body></smil>';
      mediaPackage = await studio.multipart('/ingest/addCatalog', [
        field('flavor', 'smil/cutting'),
        field('mediaPackage', mediaPackage),
        file('BODY', 'cutting.smil', Buffer.from(smil)),
      ]);
      const answer = await studio.multipart('/ingest/ingest', [field('mediaPackage', mediaPackage)]);
      expect(await published(product(), packageId(answer))).toEqual([2.5, 2.5]);
    });

    test('as scripts do in one request', async () => {
      const { server } = product();
      const script = await CaptureAgent.create(server, 'script', 'digest');
      const answer = await script.multipart('/ingest/addMediaPackage/fast', [
        field('flavor', 'presenter/source'),
        file('BODY', 'recording.mp4', await recording({ seconds: SECONDS })),
        field('title', 'By a script'),
        field('creator', 'Ada'),
        field('creator', 'Grace'),
        field('acl', '{"acl":{"ace":[{"role":"ROLE_ANONYMOUS","action":"read"}]}}'),
      ]);
      expect(await published(product(), packageId(answer))).toEqual([SECONDS]);
    });
  });
};

/** An event that is being recorded at this moment. @returns its identifier */
function scheduled({ admin }: Product, agent_id: string): Promise<string> {
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().replace(/\.\d+/, '');
  const scheduling = { agent_id, start: at(-1), end: at(30), inputs: ['cam'] };
  return admin.create([
    ...eventFields({ title: 'By the schedule', configuration: { straightToPublishing: 'true' } }),
    field('scheduling', JSON.stringify(scheduling)),
  ]);
}

/** Waits until an event has been published. @returns the lengths of its media in seconds, to a quarter */
async function published({ admin }: Product, id: string): Promise<number[]> {
  const event = await admin.processed(id);
  expect(event).toMatchObject({ processing_state: 'SUCCEEDED', publication_status: ['engage-player'] });
  const [publication] = await admin.publications(id);
  const media = publication?.media.filter(({ mediatype }) => mediatype === 'video/mp4') ?? [];
  for (const { url } of media) expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  return media.map(({ duration = 0 }) => Math.round(duration / 250) / 4);
}
