import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { Answer } from '#platform/http/endpoint/endpoint.ts';

/** The parts of a declared answer that is an XML document. */
export const XML_ANSWER = { mediaType: 'text/xml; charset=utf-8', body: z.string() } satisfies Partial<Answer>;
/** The parts of a declared answer that is plain text. */
export const TEXT_ANSWER = { mediaType: 'text/plain; charset=utf-8', body: z.string() } satisfies Partial<Answer>;

/** Returns a response with an XML document. */
export function xmlResponse(c: Context, document: string, status: ContentfulStatusCode = 200): Response {
  return c.body(document, status, { 'Content-Type': XML_ANSWER.mediaType });
}

/** Returns a response with plain text. */
export function textResponse(c: Context, text: string): Response {
  return c.body(text, 200, { 'Content-Type': TEXT_ANSWER.mediaType });
}
