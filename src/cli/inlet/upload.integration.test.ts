import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { bytes } from '#test/support/bytes.ts';
import { eventually } from '#test/support/eventually.ts';
import { folderForThisFile } from '#test/support/folders.ts';
import { listen } from '#test/support/listen.ts';
import { type ServedApp, serveApp } from '#test/support/serve-uploads.ts';
import { uploadCommand } from './upload.ts';

type Deed = (asked: IncomingMessage, answer: ServerResponse) => boolean;

const folder = await folderForThisFile();
let served: ServedApp;
let url: string;
/** What stands in front of the server does with a request; false lets it through. */
let instead: Deed;
/** What the server was asked. */
const asked: string[] = [];

const front = createServer((incoming, answer) => {
  asked.push(`${incoming.method} ${incoming.url}`);
  if (instead(incoming, answer)) return;
  const handed = handOn(incoming, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  handed.once('error', () => answer.destroy());
});

/** Sends a request on to the server. */
function handOn(incoming: IncomingMessage, onAnswer: (response: IncomingMessage) => void) {
  const { method, headers, url: path } = incoming;
  return incoming.pipe(request({ port: served.server.port, host: '127.0.0.1', path, method, headers }, onAnswer));
}

beforeAll(async () => {
  url = await listen(front);
  served = await serveApp({ PUBLIC_URL: url });
});
beforeEach(() => {
  instead = () => false;
  asked.length = 0;
});
afterAll(async () => {
  front.close();
  front.closeAllConnections();
  await served?.close();
});

const through: Deed = () => false;
const says =
  (status: number, headers: Record<string, string> = {}): Deed =>
  (_, answer) => {
    answer.writeHead(status, headers).end();
    return true;
  };
const hangsUp: Deed = ({ socket }) => {
  socket.destroy();
  return true;
};

async function fileOf(name: string): Promise<string> {
  await writeFile(join(folder, name), bytes(100_000));
  return join(folder, name);
}

/** A command that is under way. */
function begin(...args: string[]) {
  const lines: string[] = [];
  const shown: string[] = [];
  const interrupt = new AbortController();
  const ended = uploadCommand.run([...args, '--url', url], {
    environment: { XDG_STATE_HOME: folder },
    signal: interrupt.signal,
    print: (line) => void lines.push(line),
    screen: { write: (text: string) => shown.push(text), isTTY: false } as unknown as NodeJS.WriteStream,
  });
  ended.catch(() => undefined);
  const events = () => lines.flatMap((line) => /^Event +(\S+)$/.exec(line)?.slice(1) ?? []);
  return {
    lines,
    shown,
    ended,
    /** The identifiers that were told, when there are so many. */
    events: (count = 1) =>
      eventually(async () => {
        expect(events()).toHaveLength(count);
        return events();
      }),
    interrupt: async () => {
      interrupt.abort();
      await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
    },
  };
}

/** The identifier that a command tells which waits for nothing. */
async function sent(...args: string[]): Promise<string> {
  const { ended, lines } = begin(...args, '--no-wait');
  expect(await ended).toBe(0);
  return lines.join();
}

/** Brings the processing of an event to its rest. */
async function stop(event: string): Promise<void> {
  const query = new URLSearchParams({ filter: `event:${event}` });
  const workflows = await served.app.request(`/api/workflows?${query}`);
  const [workflow] = (await workflows.json()) as { identifier: string }[];
  const body = new URLSearchParams({ state: 'stopped' });
  const stopped = await served.app.request(`/api/workflows/${workflow?.identifier}`, { method: 'PUT', body });
  expect(stopped.status).toBe(200);
}

/** A file that has come to the server, where no event could be made of it. */
async function withoutEvent(name: string): Promise<string> {
  const path = await fileOf(name);
  instead = (incoming, answer) => incoming.url === '/api/events' && says(500)(incoming, answer);
  await expect(begin(path).ended).rejects.toThrow('The server answered 500');
  instead = through;
  return path;
}

/** A file whose command was stopped while it followed the event. */
async function stoppedAfterEvent(name: string): Promise<{ path: string; id: string }> {
  const path = await fileOf(name);
  const first = begin(path);
  const [id = ''] = await first.events();
  await first.interrupt();
  return { path, id };
}

const titled = (title: string) =>
  served.app.database.selectFrom('events').select('id').where('title', '=', title).execute();
const uploadsOf = (filename: string) =>
  served.app.database.selectFrom('uploads').selectAll().where('filename', '=', filename).execute();

test('a server that goes away while the processing is followed is waited for', async () => {
  const command = begin(await fileOf('Followed.mp4'));
  const [id = ''] = await command.events();
  const away: Deed[] = [hangsUp, says(502), says(503, { 'Retry-After': '1' }), says(504), says(429)];
  instead = (incoming, answer) => (away.shift() ?? through)(incoming, answer);
  await stop(id);
  expect(await command.ended).toBe(1);
  expect(away).toEqual([]);
  expect(command.lines).toEqual([`Event      ${id}`, expect.stringMatching(/^State {6}STOPPED: /)]);
  expect(command.shown.join('')).toContain('waiting for the server: ');
});

test('other refusals end the command in a sentence', async () => {
  const command = begin(await fileOf('Refused.mp4'));
  await command.events();
  instead = says(500);
  // Of the event or of its workflows, whichever is asked for next.
  await expect(command.ended).rejects.toThrow(/^The server answered 500 for \/(api|admin)\/events\//);
});

test('a command that was stopped while it followed gives the same event until that has come to rest', async () => {
  const { path, id } = await stoppedAfterEvent('Stopped.mp4');
  const second = begin(path);
  expect(await second.events()).toEqual([id]);
  await second.interrupt();
  // Neither what answers to repeated requests nor what has come lives as long as a recording may be processed.
  await served.app.database.deleteFrom('idempotency_keys').execute();
  await served.app.database.deleteFrom('uploads').execute();
  const third = begin(path);
  expect(await third.events()).toEqual([id]);
  await stop(id);
  expect(await third.ended).toBe(1);
  expect(await titled('Stopped')).toEqual([{ id }]);
  expect(asked.filter((each) => each === 'POST /uploads')).toHaveLength(1);
  // The same file once more is another recording.
  expect(await sent(path)).not.toBe(id);
  expect(await titled('Stopped')).toHaveLength(2);
});

test('the same file with another title is another recording, whatever is being processed', async () => {
  const { path, id } = await stoppedAfterEvent('Titled.mp4');
  expect(await sent(path, '--title', 'Another')).not.toBe(id);
  expect(await sent(path)).toBe(id);
});

test('of several recordings none is sent again when the command is stopped at a later one', async () => {
  const paths = [await fileOf('One.mp4'), await fileOf('Two.mp4')];
  const first = begin(...paths);
  const [one = ''] = await first.events();
  await stop(one);
  const both = await first.events(2);
  await first.interrupt();
  const second = begin(...paths);
  expect(await second.events(2)).toEqual(both);
  await stop(both[1] ?? '');
  expect(await second.ended).toBe(1);
  expect([...(await titled('One')), ...(await titled('Two'))].map((event) => event.id)).toEqual(both);
});

test('an event that is gone is told of, and forgotten', async () => {
  const { path, id } = await stoppedAfterEvent('Deleted.mp4');
  await served.app.database.deleteFrom('events').where('id', '=', id).execute();
  await expect(begin(path).ended).rejects.toThrow(`The event ${id} no longer exists.`);
  expect(await sent(path)).not.toBe(id);
});

test('an event whose answer was lost on the way is asked for again, and is the same', async () => {
  let lost = 0;
  instead = (incoming, answer) => {
    if (incoming.url !== '/api/events' || lost > 0) return false;
    lost += 1;
    handOn(incoming, () => answer.destroy());
    return true;
  };
  const id = await sent(await fileOf('Lost.mp4'));
  expect(lost).toBe(1);
  expect(await titled('Lost')).toEqual([{ id }]);
});

test('what has come of a file is not given up for a server that is away', async () => {
  const path = await withoutEvent('Away.mp4');
  // Not even the way in which files are sent can be told.
  instead = says(502);
  await expect(begin(path).ended).rejects.toThrow(`${url} answers 502`);
  let heads = 0;
  instead = (incoming, answer) => {
    if (incoming.method !== 'HEAD') return false;
    heads += 1;
    return heads < 3 && says(heads === 1 ? 502 : 429)(incoming, answer);
  };
  await sent(path);
  expect(heads).toBe(3);
  expect(await uploadsOf('Away.mp4')).toHaveLength(1);
});

test('a password that is wrong for once makes nobody forget what has come', async () => {
  const path = await withoutEvent('Password.mp4');
  instead = (incoming, answer) => incoming.method === 'HEAD' && says(401)(incoming, answer);
  await expect(begin(path).ended).rejects.toThrow('The server refused the file (401)');
  instead = through;
  await sent(path);
  expect(await uploadsOf('Password.mp4')).toHaveLength(1);
});

test('a file whose upload has expired is sent again', async () => {
  const path = await withoutEvent('Expired.mp4');
  const [before] = await uploadsOf('Expired.mp4');
  await served.app.database.deleteFrom('uploads').where('id', '=', String(before?.id)).execute();
  const id = await sent(path);
  expect(await titled('Expired')).toEqual([{ id }]);
  const head = { method: 'HEAD', headers: { 'Tus-Resumable': '1.0.0' } };
  expect((await served.app.request(`/uploads/${before?.id}`, head)).status).toBe(404);
});
