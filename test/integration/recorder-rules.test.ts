import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMachine } from '../support/accounts.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { digestHeader, nonceOf } from '../support/digest.ts';
import { field, file } from '../support/form.ts';
import { ok, packageId, Recorder } from '../support/packages.ts';
import { unlessBusy } from '../support/readiness.ts';
import { zipOf } from '../support/zip.ts';

let app: TestApp;
let recorder: Recorder;
beforeAll(async () => {
  app = await createTestApp();
  recorder = new Recorder(app, await app.account('hall', 'ROLE_CAPTURE_AGENT'));
});
afterAll(() => app?.close());

const CAMERA = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(2_000)]);

test('rule 1: an agent needs no route below /api, whose doors stay shut to it', async () => {
  for (const path of [
    '/services/available.json?serviceType=org.opencastproject.ingest',
    '/capture-admin/agents.json',
    '/recordings/calendars?agentid=hall',
    '/ingest/createMediaPackage',
    '/info/me.json',
  ]) {
    expect(await unlessBusy(() => recorder.send('GET', path)), path).toMatchObject({ status: 200 });
  }
  expect(await recorder.send('DELETE', '/api/series/nobody')).toMatchObject({ status: 403 });
});

describe('rule 7: a part is a file when it has a file name', () => {
  test.each([
    ['BODY', 'a.mp4'],
    ['BODY1', 'a.mp4'],
    ['Body', 'a.mp4'],
    ['track', 'a.mp4'],
    ['file', 'a.mp4'],
    ['attached_file.mp4', 'attached_file.mp4'],
  ])('%s', async (part, filename) => {
    const parts = [field('mediaPackage', await recorder.create()), field('flavor', 'presenter/source')];
    const answer = ok(await recorder.post('/ingest/addTrack', [...parts, file(part, filename, CAMERA)]));
    expect(answer).toContain(`/${filename}</url>`);
  });

  test('mediaPackage.zip', async () => {
    const manifest =
      '<mediapackage xmlns="http://mediapackage.opencastproject.org"><media><track type="presenter/source"><url>a.mp4</url></track></media></mediapackage>';
    const zip = zipOf([
      { name: 'manifest.xml', content: manifest },
      { name: 'a.mp4', content: CAMERA },
    ]);
    const parts = [file('mediaPackage.zip', 'mediaPackage.zip', zip)];
    ok(await recorder.post('/ingest/addZippedMediaPackage', parts));
  });

  test('BODY without a file name is a field, and no track', async () => {
    const parts = [field('mediaPackage', await recorder.create()), field('flavor', 'presenter/source')];
    const answer = await recorder.post('/ingest/addTrack', [...parts, field('BODY', 'text')]);
    expect(answer).toMatchObject({ status: 400 });
  });
});

test('rule 9: what Digest needs is kept of machines alone, and people have Basic alone', async () => {
  await addMachine(app.database, 'machine');
  await app.account('person');
  const kept = await app.database.selectFrom('agent_accounts').select('username').execute();
  expect(kept).toEqual([{ username: 'machine' }]);
  const path = '/info/me.json';
  const signIn = async (username: string) => {
    const asked = await app.anonymous(path, {
      headers: { 'X-Requested-Auth': 'Digest', Authorization: 'Digest' },
    });
    const made = { username, password: 'secret', nonce: nonceOf(asked), method: 'GET', uri: path };
    const answer = await app.anonymous(path, { headers: { Authorization: digestHeader(made) } });
    return answer.status;
  };
  expect([await signIn('machine'), await signIn('person')]).toEqual([200, 401]);
});

test('rule 11: ingest answers without having looked into the recording', async () => {
  const nothing = Buffer.from('This is no recording.');
  const id = packageId(
    ok(await recorder.ingest(ok(await recorder.addTrack(await recorder.create(), nothing)))),
  );
  const operations = await app.database
    .selectFrom('workflow_operations')
    .innerJoin('workflows', 'workflows.id', 'workflow_operations.workflow_id')
    .select(['workflow_operations.operation', 'workflow_operations.state'])
    .where('event_id', '=', id)
    .orderBy('workflow_operations.position')
    .execute();
  expect(operations[0]).toEqual({ operation: 'inspect', state: 'ready' });
});

describe('rule 16: answers are found by programs that know no XML', () => {
  test('a package begins with its id, an element with its own, and an address stands alone', async () => {
    const xml = ok(await recorder.addTrack(await recorder.create(), CAMERA));
    // ingest-with-smil.sh
    expect(/<mediapackage id="([^"]+)"/.exec(xml)?.[1]).toMatch(/^[0-9a-f-]{36}$/);
    expect(/<track id="([^"]+)"/.exec(xml)?.[1]).toMatch(/^[0-9a-f-]{36}$/);
    expect(/<url>([^<]+)<\/url>/.exec(xml)?.[1]).toMatch(/^http:\/\/inlet\.test\//);
  });

  test('a workflow has the prefixes wf and mp, in their namespaces', async () => {
    const answer = ok(await recorder.ingest(ok(await recorder.addTrack(await recorder.create(), CAMERA))));
    expect(answer).toMatch(/<wf:workflow id="\d+"/);
    expect(answer).toMatch(/<mp:mediapackage id="[0-9a-f-]{36}"/);
    expect(answer).toContain('xmlns:wf="http://workflow.opencastproject.org"');
    expect(answer).toContain('xmlns:mp="http://mediapackage.opencastproject.org"');
    expect(answer).toContain('<wf:template>');
  });
});
