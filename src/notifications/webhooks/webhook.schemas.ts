import { isIP } from 'node:net';
import { z } from 'zod';
import { parseChangeFilter } from '#changes/change.ts';
import { Instant } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { isPublic, mayBePrivate, OutboundError, parseTarget } from '#platform/outbound/connect.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import { isSecret } from './webhook-message.ts';

const MAX_URL = 2048;
const MAX_SHOWN = 200;

export const INVALID_URL = refusal(
  400,
  (reason: string) =>
    `The form parameter 'url' is not allowed: ${reason}. It must be an http:// or https:// URL of a public host or of a host in WEBHOOK_HOSTS.`,
  ['its host is private'],
);
export const INVALID_SECRET = refusal(400, "The form parameter 'secret' must be whsec_ and 24 to 64 bytes in base64.");
export const MOST_WEBHOOKS = 200;
export const TOO_MANY_WEBHOOKS = refusal(409, `The maximum of ${MOST_WEBHOOKS} webhooks is reached.`);
export const INVALID_FILTER = refusal(400, "The form parameter 'filter' contains a control character.");
export const WEBHOOK_MISSING = refusal(404, (id: string) => `The webhook '${id}' does not exist.`, ['7']);
export const DELIVERY_MISSING = refusal(404, (id: string) => `No parked delivery has the number '${id}'.`, ['4711']);

/** A webhook; its secret is shown only when it was generated. */
export const WebhookShape = z
  .object({
    identifier: z.int(),
    url: z.string(),
    filter: z.string().describe('The changes it receives; empty for all.'),
    active: z.boolean(),
    secret: z.string().optional().describe('The key that signs messages; only in the response that generated it.'),
    created: Instant,
    failures: z.int().describe('Consecutive failed attempts.'),
    last_success: Instant.optional(),
    last_error: z.string().optional(),
    pending: z.int().describe('Waiting messages, counted up to 1000.'),
    parked: z.int().describe('Messages that failed permanently, counted up to 1000.'),
  })
  .meta({ id: 'Webhook' });
export type WebhookJson = z.infer<typeof WebhookShape>;

export const DELIVERY_STATES = ['pending', 'delivered', 'parked'] as const;

export const DeliveryShape = z
  .object({
    identifier: z.int(),
    message: z.string().describe('The `webhook-id` of the message.'),
    kind: z.string(),
    state: z.enum(DELIVERY_STATES),
    attempts: z.int(),
    status: z.int().optional().describe('The status of the last response.'),
    error: z.string().optional().describe('The reason the last attempt failed.'),
    created: Instant,
    next: Instant.optional().describe(
      'The time of the next attempt; missing while an earlier message must be delivered first.',
    ),
    ended: Instant.optional(),
  })
  .meta({ id: 'WebhookDelivery' });
export type DeliveryJson = z.infer<typeof DeliveryShape>;

export const WEBHOOK: WebhookJson = {
  identifier: 7,
  url: 'https://lms.example.org/hooks/recordings',
  filter: 'kind:workflow.state,state:SUCCEEDED,state:FAILED',
  active: true,
  created: '2026-11-23T08:15:00Z',
  failures: 0,
  last_success: '2026-11-23T09:41:12Z',
  pending: 0,
  parked: 0,
};

export const DELIVERY: DeliveryJson = {
  identifier: 4711,
  message: 'msg_7_90210',
  kind: 'workflow.state',
  state: 'parked',
  attempts: 31,
  status: 503,
  error: 'The receiver responded with status 503.',
  created: '2026-11-20T08:15:00Z',
  ended: '2026-11-23T08:31:00Z',
};

/** Validates a webhook URL. Host names are resolved on delivery. @throws {HttpError} 400 */
export function checkedUrl(text: string, hosts: readonly NamedHost[]): string {
  const url = text.trim();
  if (url.length > MAX_URL) throw INVALID_URL(`it is longer than ${MAX_URL} characters`);
  try {
    const target = parseTarget(url);
    const host = target.host.replace(/^\[|\]$/g, '');
    const isPrivate = isIP(host) > 0 ? !isPublic(host) : /(^|\.)localhost$/.test(host);
    if (isPrivate && !mayBePrivate(hosts, target)) throw INVALID_URL('its host is private');
    return target.url.href;
  } catch (error) {
    throw error instanceof OutboundError ? INVALID_URL(error.message.slice(0, MAX_SHOWN)) : error;
  }
}

export function checkedSecret(text: string): string {
  if (isSecret(text.trim())) return text.trim();
  throw INVALID_SECRET();
}

export function checkedFilter(text: string): string {
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) throw INVALID_FILTER();
  parseChangeFilter(text);
  return text.trim();
}
