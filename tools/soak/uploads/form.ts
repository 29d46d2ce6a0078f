import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../../../test/support/client.ts';
import { OpenUpload, type UploadAnswer } from '../../../test/support/open-upload.ts';
import type { Manner, Outcome } from './upload.ts';

/** Longer than anything may take that is answered at all. */
export const ANSWER_MS = 180_000;
const PIECES = 20;
const SLOW_MS = 15_000;
/** What is sent byte by byte, each in a chunk of its own. */
const CRUMBS = 2_000;

/**
 * Sends a form to POST /api/events as clients do that know nothing else: once.
 *
 * @param fraction how much is sent of what is not sent to its end
 */
export async function sendForm(
  url: string,
  { type, body }: { type: string; body: Buffer },
  manner: Manner,
  fraction: number,
): Promise<Outcome> {
  const open = new OpenUpload(new Client(url), manner === 'in crumbs' ? { type } : { type, length: body.length });
  let sent = performance.now();
  open.answer.catch(() => undefined).finally(() => (sent = Math.min(sent, performance.now())));
  const answer = await Promise.race([
    send(open, body, manner, fraction).then(() => {
      sent = performance.now();
      return open.answer;
    }),
    open.answer,
    pause(ANSWER_MS + SLOW_MS, undefined, { ref: false }),
  ]).catch(() => undefined);
  open.cut();
  return { ...outcome(answer), tookMs: Math.round(performance.now() - sent), tries: 1 };
}

async function send(open: OpenUpload, body: Buffer, manner: Manner, fraction: number): Promise<void> {
  if (manner === 'at once') await open.write(body);
  if (manner === 'slowly') {
    const size = Math.ceil(body.length / PIECES);
    for (let at = 0; at < body.length; at += size) {
      await open.write(body.subarray(at, at + size));
      await pause(SLOW_MS / PIECES);
    }
  }
  if (manner === 'in crumbs') {
    for (let at = 0; at < CRUMBS; at += 1) await open.write(body.subarray(at, at + 1));
    await open.write(body.subarray(CRUMBS));
  }
  if (manner === 'not to its end') {
    await open.write(body.subarray(0, Math.floor(body.length * fraction)));
    open.cut();
    return;
  }
  open.end();
}

function outcome(answer: UploadAnswer | undefined): Pick<Outcome, 'status' | 'id' | 'sentence'> {
  if (answer?.status !== 201) return { status: answer?.status, id: undefined, sentence: answer?.body ?? '' };
  const { identifier } = JSON.parse(answer.body) as { identifier: string };
  return { status: 201, id: identifier, sentence: '' };
}
