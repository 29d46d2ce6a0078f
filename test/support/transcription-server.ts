import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';

/** A request to transcribe a sound, as the server understands it. */
export interface HeardSound {
  format: string;
  model: string;
  language: string | undefined;
  authorization: string | undefined;
  path: string | undefined;
  /** Of the sound, in milliseconds. */
  lengthMs: number;
  samplingRate: number;
  channels: number;
  bytes: number;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: string | object;
  /** Writes the response itself. */
  write?: (response: ServerResponse) => void;
}

/** A server with the transcription interface of OpenAI, which hears what `reply` says. */
export async function startTranscriptionServer() {
  const heard: HeardSound[] = [];
  let reply: (sound: HeardSound) => Reply = () => ({ body: { text: '', segments: [], language: 'english' } });
  const server = createServer(async (request, response) => {
    const sound = await hear(request).catch(() => undefined);
    if (!sound) return response.writeHead(422).end('{"detail":"The request has no sound."}');
    heard.push(sound);
    const { status = 200, headers = {}, body = '', write } = reply(sound);
    if (write) return write(response);
    return response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const url = await listen(server);
  return {
    url,
    heard,
    /** Forgets what was heard, and answers in another way from now on. */
    answer(next: (sound: HeardSound) => Reply) {
      heard.length = 0;
      reply = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function hear(request: IncomingMessage): Promise<HeardSound> {
  const type = request.headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(await buffer(request)), {
    headers: { 'Content-Type': type },
  }).formData();
  const text = (name: string) => form.get(name)?.toString();
  const file = form.get('file');
  if (!(file instanceof Blob)) throw new Error('No file was sent.');
  const bytes = Buffer.from(await file.arrayBuffer());
  if (bytes.toString('latin1', 0, 4) !== 'fLaC') throw new Error('The file is not FLAC.');
  // The stream information of FLAC: 20 bits rate, 3 bits channels, 5 bits sample size, 36 bits samples.
  const facts = bytes.readBigUInt64BE(18);
  const samplingRate = Number(facts >> 44n);
  return {
    format: text('response_format') ?? '',
    model: text('model') ?? '',
    language: text('language'),
    authorization: request.headers.authorization,
    path: request.url,
    lengthMs: (Number(facts & 0xfffffffffn) / samplingRate) * 1000,
    samplingRate,
    channels: Number((facts >> 41n) & 7n) + 1,
    bytes: bytes.length,
  };
}
