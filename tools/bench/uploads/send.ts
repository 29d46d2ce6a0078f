import { execFile, execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type ApiAddress, ask, postEvent } from '../support/http-client.ts';

/** Who sends the files: curl costs less than a client of ours, on the same processors as what is measured. */
export type Sender = 'curl' | 'node';

export function findSender(): Sender {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return 'curl';
  } catch {
    return 'node';
  }
}

const FIELDS = {
  acl: '[]',
  metadata: '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":"Benchmark"}]}]',
  processing: '{"workflow":"schedule-and-upload"}',
};

/** `POST /api/events` with one file, and nothing but the 201 will do. */
export async function sendForm(sender: Sender, api: ApiAddress, file: string): Promise<void> {
  if (sender === 'curl') {
    const fields = Object.entries(FIELDS).flatMap(([name, value]) => ['-F', `${name}=${value}`]);
    return curl(201, [...login(api), ...fields, '-F', `presenter=@${file}`, `${api.url}/api/events`]);
  }
  const { size: bytes } = await stat(file);
  const content = () => createReadStream(file, { highWaterMark: 2 ** 18 });
  await postEvent(api, { workflow: 'schedule-and-upload', track: { bytes, filename: 'g.mp4', content } });
}

/** Creates an upload at a tus server and sends the file in one request. @returns the path of the upload */
export async function sendTus(sender: Sender, server: ApiAddress, route: string, file: string): Promise<string> {
  const { size } = await stat(file);
  const tus = { 'Tus-Resumable': '1.0.0' };
  const created = await ask(server, route, {
    method: 'POST',
    headers: { ...tus, 'Upload-Length': size, 'Content-Length': 0 },
  });
  const { location } = created.headers;
  if (created.status !== 201 || !location) throw new Error(`The tus server answered ${created.status}.`);
  const { pathname } = new URL(location, server.url);
  const headers = { ...tus, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' };
  if (sender === 'curl') {
    const lines = Object.entries(headers).flatMap((header) => ['-H', header.join(': ')]);
    await curl(204, [...login(server), '-X', 'PATCH', ...lines, '-T', file, `${server.url}${pathname}`]);
    return pathname;
  }
  const options = { method: 'PATCH', headers: { ...headers, 'Content-Length': size } };
  const { status, body } = await ask(server, pathname, options, async function* () {
    yield* createReadStream(file, { highWaterMark: 2 ** 18 });
  });
  if (status !== 204) throw new Error(`The tus server answered ${status}: ${body}`);
  return pathname;
}

const login = ({ username, password }: ApiAddress) => ['-u', `${username}:${password}`];

/** Without `Expect`: what is measured does not wait to be asked for. */
async function curl(expected: number, args: string[]): Promise<void> {
  const { stdout } = await promisify(execFile)('curl', ['-sS', '-w', '\n%{http_code}', '-H', 'Expect:', ...args]);
  if (!stdout.endsWith(`\n${expected}`)) throw new Error(`curl was answered ${stdout}`);
}
