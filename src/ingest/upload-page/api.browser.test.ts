import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createApi } from './api.browser.ts';

const BASE = 'https://media.example.org/inlet/';
const api = createApi(BASE, { account: 'müller', role: 'ROLE_USER_M_LLER' });

let answers: (Response | Error)[];
let asked: { url: string; method: string; headers: Headers }[];
beforeEach(() => {
  answers = [];
  asked = [];
  vi.stubGlobal('fetch', async (url: URL, { method = 'GET', headers }: RequestInit) => {
    asked.push({ url: url.href, method, headers: new Headers(headers) });
    const answer = answers.shift() ?? new Error('nothing answers');
    if (answer instanceof Error) throw answer;
    return answer;
  });
  onTestFinished(() => void vi.unstubAllGlobals());
});

test('what another account asks for is refused as if nobody had signed in', async () => {
  answers = ['m%C3%BCller', 'grace'].map((name) => new Response('', { headers: { 'Inlet-Account': name } }));
  await api.stillOurs();
  await expect(api.stillOurs()).rejects.toMatchObject({ status: 401, passes: false });
  expect(asked[0]).toMatchObject({ url: `${BASE}upload`, method: 'HEAD' });
});

test('a state that has not changed is the one that was', async () => {
  answers = [
    Response.json({ processing_state: 'RUNNING' }, { headers: { ETag: '"1"' } }),
    new Response(null, { status: 304 }),
    Response.json({ processing_state: 'SUCCEEDED' }),
  ];
  const states = [];
  for (let i = 0; i < 3; i += 1) states.push(await api.processingOf('a/b'));
  expect(states).toEqual(['RUNNING', 'RUNNING', 'SUCCEEDED']);
  expect(asked.map(({ headers }) => headers.get('If-None-Match'))).toEqual([null, '"1"', '"1"']);
  expect(asked[0]?.url).toBe(`${BASE}api/events/a%2Fb`);
});

test.each([
  [undefined, 0, true, 'The server does not answer.'],
  [new Response('Later.\n', { status: 503, headers: { 'Content-Type': 'text/plain' } }), 503, true, 'Later.'],
  [new Response('', { status: 423 }), 423, true, 'The server answered 423.'],
  [new Response('', { status: 400, headers: { 'Retry-After': '1' } }), 400, true, 'The server answered 400.'],
  [new Response('', { status: 400 }), 400, false, 'The server answered 400.'],
])('a fault says whether it passes (%#)', async (answer, status, passes, message) => {
  if (answer) answers = [answer];
  await expect(api.stillOurs()).rejects.toMatchObject({ status, passes, message });
});

test.each([404, 410])('an upload that answers %i is not there', async (status) => {
  answers = [new Response('', { status }), new Response('', { status })];
  expect(await api.offsetOf(`${BASE}uploads/1`)).toBeUndefined();
  await api.removeUpload(`${BASE}uploads/1`);
  expect(asked.map(({ method }) => method)).toEqual(['HEAD', 'DELETE']);
});
