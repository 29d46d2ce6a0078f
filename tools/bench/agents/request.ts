import { type Agent, request as open } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Answer } from '../support/http-client.ts';

/** One request without credentials of its own; a body makes it a form. */
export function request(
  url: string,
  {
    method,
    headers,
    agent,
    body,
  }: { method: string; headers: Record<string, string>; agent: Agent; body: string | undefined },
): Promise<Answer> {
  const form = body === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' };
  return new Promise((resolve, reject) => {
    const outgoing = open(url, { method, agent, headers: { ...headers, ...form } }, (answer) => {
      text(answer).then(
        (read) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: read }),
        reject,
      );
    });
    outgoing.once('error', reject).end(body);
  });
}
