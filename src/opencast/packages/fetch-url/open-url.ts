import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { safeFilename } from '#platform/http/form/filename.ts';
import { ask } from '#platform/outbound/ask.ts';
import { type ConnectOptions, connect } from '#platform/outbound/connect.ts';
import type { Target } from '#platform/outbound/target.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import { type ContentLimits, contentOf, expectedBytesOf } from './content.ts';
import { refusing, URL_REFUSED } from './refusals.ts';
import { targetOf } from './target.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
const MAX_URL_LENGTH = 4096;

/** How a file is fetched from an address. */
export interface FetchOptions extends ContentLimits, Pick<ConnectOptions, 'lookup'> {
  /** Hosts that may be asked, as INGEST_URL_HOSTS names them; none when undefined. */
  hosts: readonly NamedHost[] | undefined;
}

/** A file that comes from an address. */
export interface FetchedFile {
  /** For people: the last part of the path that the client gave, made safe to show. */
  filename: string;
  /** Must be read or destroyed. Fails with an `HttpError` when the file does not come as a whole. */
  stream: Readable;
  /** As the host says. */
  expectedBytes: number | undefined;
}

/**
 * Begins to fetch a file from an address that a client gave. Only named hosts are asked, at each step of a redirect, and
 * at public addresses unless these are named themselves.
 *
 * @throws {HttpError} 400 what may not or cannot be fetched, 413 too large
 * @throws the reason of the signal
 */
export async function openUrl(text: string, options: FetchOptions): Promise<FetchedFile> {
  const { hosts } = options;
  if (!hosts) throw URL_REFUSED('INGEST_URL_HOSTS is not set, so files come in requests only');
  if (text.length > MAX_URL_LENGTH) throw URL_REFUSED(`it is longer than ${MAX_URL_LENGTH} characters`);
  const first = targetOf(text, hosts);
  const answer = await follow(first, { ...options, hosts });
  try {
    if (answer.statusCode !== 200) throw URL_REFUSED(`its host answers with the status ${answer.statusCode}`);
    const expectedBytes = expectedBytesOf(answer, options.maxBytes);
    const stream = contentOf(answer, expectedBytes, options);
    return { filename: filenameOf(first.url), stream, expectedBytes };
  } catch (error) {
    answer.destroy();
    throw error;
  }
}

async function follow(
  first: Target,
  options: FetchOptions & { hosts: readonly NamedHost[] },
): Promise<IncomingMessage> {
  let target = first;
  for (let redirects = 0; ; redirects++) {
    const asked = target;
    const answer = await refusing(async () =>
      ask(asked, await connect(asked, { ...options, variable: 'INGEST_URL_HOSTS' }), options),
    );
    // Whoever drops the answer hears of nothing more.
    answer.on('error', () => undefined);
    const { location } = answer.headers;
    if (!REDIRECTS.includes(answer.statusCode ?? 0) || location === undefined) return answer;
    answer.destroy();
    if (redirects === MAX_REDIRECTS) throw URL_REFUSED(`it redirects more than ${MAX_REDIRECTS} times`);
    target = targetOf(location, options.hosts, target.url);
  }
}

function filenameOf({ pathname }: URL): string {
  const last = pathname.split('/').at(-1) ?? '';
  return safeFilename(decoded(last), 'download');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
