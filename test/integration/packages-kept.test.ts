import { describe, expect, test } from 'vitest';
import { bytes } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { ok, packageId, Recorder } from '../support/packages.ts';
/** Recordings that unusual agents would have lost: whoever is refused sends the same again and again, or gives up. */
const bench = EventBench.forThisFile();
const CAMERA = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(300_000)]);
const recorder = (authorization?: string) => new Recorder(bench.app, authorization);
const event = (id: string) => bench.read(`/api/events/${id}`);

describe('a wrong clock', () => {
  const temporal = 'start=1970-01-01T00:00:00Z; end=2030-01-07T10:00:00Z; scheme=W3C-DTF;';
  test.each([
    ['a period of decades', { title: 'Kept', temporal }, { title: 'Kept', start: '1970-01-01T00:00:00Z' }],
    ['a year before the first', { title: 'Kept', created: '0001-01-01T00:00:00+01:00' }, { title: 'Kept' }],
    ['a year after the last', { title: 'Kept', created: '9999-12-31T23:59:00-01:00' }, { title: 'Kept' }],
  ])('costs no recording: %s', async (_, terms, shown) => {
    const pyca = recorder();
    let xml = ok(await pyca.addDublinCore(await pyca.create(), terms as Record<string, string>));
    xml = ok(await pyca.addTrack(xml, CAMERA));
    expect(await event(packageId(ok(await pyca.ingest(xml))))).toMatchObject(shown);
  });
});
