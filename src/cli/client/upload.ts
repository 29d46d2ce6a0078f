import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../failure.ts';
import { fieldsOf, type NewEvent, type TrackFile } from './new-event.ts';
import { errorSentence, type Server } from './server.ts';

/** A form as `multipart/form-data`, streamed: no file is ever in memory as a whole. */
interface MultipartBody {
  contentType: string;
  /** Bytes altogether. */
  length: number;
  chunks(): AsyncGenerator<Buffer>;
}

type Part = { head: Buffer } & ({ content: Buffer } | { path: string; size: number });

/** The form of `POST /api/events` for an event and its files. */
export function eventForm(event: NewEvent, tracks: readonly TrackFile[]): MultipartBody {
  const boundary = `inlet-${randomUUID()}`;
  const parts: Part[] = [
    ...Object.entries(fieldsOf(event)).map(([name, value]) => ({
      head: head(boundary, `name="${name}"`),
      content: Buffer.from(value),
    })),
    ...tracks.map(({ part, path, size }) => ({
      head: head(
        boundary,
        `name="${part}"; filename="${escapeName(basename(path))}"`,
        'Content-Type: application/octet-stream\r\n',
      ),
      path,
      size,
    })),
  ];
  const end = Buffer.from(`--${boundary}--\r\n`);
  const sizeOf = (part: Part) => part.head.length + ('path' in part ? part.size : part.content.length) + 2;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: parts.reduce((sum, part) => sum + sizeOf(part), end.length),
    chunks: async function* () {
      for (const part of parts) {
        yield part.head;
        if ('path' in part) yield* fileOf(part);
        else yield part.content;
        yield Buffer.from('\r\n');
      }
      yield end;
    },
  };
}

function head(boundary: string, disposition: string, headers = ''): Buffer {
  return Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n`);
}

/** As browsers do. */
function escapeName(filename: string): string {
  return filename.replace(/["\r\n]/g, encodeURIComponent);
}

/** As many bytes as were announced; a file that shrank meanwhile cannot be sent. */
async function* fileOf({ path, size }: { path: string; size: number }): AsyncGenerator<Buffer> {
  if (size === 0) return;
  let read = 0;
  for await (const chunk of createReadStream(path, { end: size - 1, highWaterMark: 256 * 1024 })) {
    read += chunk.length;
    yield chunk;
  }
  if (read < size) throw new Error(`${basename(path)} became shorter while it was sent.`);
}

/** Gets the bytes sent and the bytes there are. */
type OnProgress = (sent: number, total: number) => void;

/**
 * Posts an event with its files to `/api/events`, in one request.
 *
 * @returns the event's identifier
 * @throws {CommandError} with the server's sentence when it refuses
 */
export async function upload(
  server: Server,
  event: NewEvent,
  tracks: readonly TrackFile[],
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<string> {
  const form = eventForm(event, tracks);
  const request = httpRequest(`${server.url}/api/events`, {
    method: 'POST',
    headers: {
      Authorization: server.authorization,
      'Content-Type': form.contentType,
      'Content-Length': form.length,
    },
    signal,
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  let cause: unknown;
  const sent = pipeline(Readable.from(counted(form.chunks(), form.length, onProgress)), request);
  sent.catch((error: Error) => {
    cause = error;
  });
  // An early refusal breaks the upload off; what counts then is the answer.
  const response = await answered.catch((error: Error) => {
    if (signal.aborted) throw error;
    throw new CommandError(`The upload broke off: ${cause instanceof Error ? cause.message : error.message}`);
  });
  const body = await text(response);
  if (response.statusCode !== 201) {
    throw new CommandError(`The server refused the recording (${response.statusCode}): ${errorSentence(body)}`);
  }
  await sent;
  return (JSON.parse(body) as { identifier: string }).identifier;
}

async function* counted(chunks: AsyncGenerator<Buffer>, total: number, onProgress: OnProgress): AsyncGenerator<Buffer> {
  let sent = 0;
  for await (const chunk of chunks) {
    yield chunk;
    sent += chunk.length;
    onProgress(sent, total);
  }
}
