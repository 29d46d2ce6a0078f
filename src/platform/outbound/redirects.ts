import type { IncomingMessage } from 'node:http';
import { OutboundError, type Target } from './connect.ts';

const MAX_REDIRECTS = 5;
const STATUSES = [301, 302, 303, 307, 308];

/**
 * Sends a request and follows up to five redirects. Every answer but the last is dropped.
 *
 * @param ask sends the request
 * @param targetOf parses the address of a redirect, and throws if it may not be followed
 * @throws {OutboundError} for more redirects
 */
export async function followRedirects(
  first: Target,
  ask: (target: Target) => Promise<IncomingMessage>,
  targetOf: (location: string, from: URL) => Target,
): Promise<IncomingMessage> {
  let target = first;
  for (let redirects = 0; ; redirects++) {
    const answer = await ask(target);
    // A response that was dropped may still fail.
    answer.on('error', () => undefined);
    const { location } = answer.headers;
    if (!STATUSES.includes(answer.statusCode ?? 0) || location === undefined) return answer;
    answer.destroy();
    if (redirects === MAX_REDIRECTS) throw new OutboundError(`it redirects more than ${MAX_REDIRECTS} times`);
    target = targetOf(location, target.url);
  }
}
