import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../failure.ts';
import { eventForm } from './event-form.ts';
import type { NewEvent, TrackFile } from './new-event.ts';
import { errorSentence, type Server } from './server.ts';

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
    throw new CommandError(
      `The server refused the recording (${response.statusCode}): ${errorSentence(body)}`,
    );
  }
  await sent;
  return (JSON.parse(body) as { identifier: string }).identifier;
}

async function* counted(
  chunks: AsyncGenerator<Buffer>,
  total: number,
  onProgress: OnProgress,
): AsyncGenerator<Buffer> {
  let sent = 0;
  for await (const chunk of chunks) {
    yield chunk;
    sent += chunk.length;
    onProgress(sent, total);
  }
}
