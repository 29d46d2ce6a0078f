import type { IncomingMessage } from 'node:http';

const messages = new WeakMap<Request, IncomingMessage>();

/** Remembers what a request came as, so that its body can be read without the detour over a web stream. */
export function rememberMessage(request: Request, message: IncomingMessage): void {
  messages.set(request, message);
}

/** What a request came as; undefined behind a server that is not ours. */
export function messageOf(request: Request): IncomingMessage | undefined {
  return messages.get(request);
}
