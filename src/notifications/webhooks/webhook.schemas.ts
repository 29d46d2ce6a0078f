import { isIP } from 'node:net';
import { z } from 'zod';
import { CHANGE_FILTERS, parseChangeFilter } from '#changes/filter.ts';
import { Instant } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { isPublic, mayBePrivate } from '#platform/outbound/addresses.ts';
import { OutboundFault, parseTarget } from '#platform/outbound/target.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import { isSecret } from './message.ts';

const MAX_URL = 2048;
const MAX_SHOWN = 200;

export const INVALID_URL = refusal(
  400,
  (reason: string) =>
    `The form parameter 'url' is no address that can be told: ${reason}; allowed are addresses with http:// or https:// of public hosts, and of those that WEBHOOK_HOSTS names.`,
  ['its host is private'],
);
export const INVALID_SECRET = refusal(
  400,
  "The form parameter 'secret' is none; allowed is whsec_ and 24 to 64 bytes in base64.",
);
/** More than any site has. */
export const MOST_WEBHOOKS = 200;
export const TOO_MANY_WEBHOOKS = refusal(409, `There are ${MOST_WEBHOOKS} webhooks already.`);
export const INVALID_FILTER = refusal(400, "The form parameter 'filter' has a character that cannot be shown.");
export const WEBHOOK_MISSING = refusal(404, (id: string) => `There is no webhook with the number '${id}'.`, ['7']);
export const DELIVERY_MISSING = refusal(
  404,
  (id: string) => `There is no delivery with the number '${id}' that is parked.`,
  ['4711'],
);

/** A webhook as the API shows it; its secret is shown only when it was made up. */
export const WebhookShape = z
  .object({
    identifier: z.int(),
    url: z.string(),
    filter: z.string().describe('What it is told of; empty for everything.'),
    active: z.boolean(),
    secret: z.string().optional().describe('What messages are signed with; only in the answer that has made it up.'),
    created: Instant,
    failures: z.int().describe('Attempts that failed since the last one that did not.'),
    last_success: Instant.optional(),
    last_error: z.string().optional(),
    pending: z.int().describe('Messages that wait; counted up to 1000.'),
    parked: z.int().describe('Messages that were given up; counted up to 1000.'),
  })
  .meta({ id: 'Webhook' });
export type WebhookJson = z.infer<typeof WebhookShape>;

export const DELIVERY_STATES = ['pending', 'delivered', 'parked'] as const;

/** A message for a webhook. */
export const DeliveryShape = z
  .object({
    identifier: z.int(),
    message: z.string().describe('The `webhook-id` that the receiver gets.'),
    kind: z.string(),
    state: z.enum(DELIVERY_STATES),
    attempts: z.int(),
    status: z.int().optional().describe('Of the last answer.'),
    error: z.string().optional().describe('Why the last attempt was no success.'),
    created: Instant,
    next: Instant.optional().describe('When it is tried again; missing while an earlier message has to come first.'),
    ended: Instant.optional(),
  })
  .meta({ id: 'WebhookDelivery' });
export type DeliveryJson = z.infer<typeof DeliveryShape>;

export const FILTER_HELP = `What it is told of: \`name:value\` with commas between them, all of which must match; of a name that is given again any value. Names: ${CHANGE_FILTERS.map((name) => `\`${name}\``).join(', ')}. Empty for everything.`;

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
  error: 'The receiver answered with the status 503.',
  created: '2026-11-20T08:15:00Z',
  ended: '2026-11-23T08:31:00Z',
};

/** An address that may be told. Names are looked up when they are. @throws {HttpError} 400 */
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
    throw error instanceof OutboundFault ? INVALID_URL(error.message.slice(0, MAX_SHOWN)) : error;
  }
}

/** @throws {HttpError} 400 */
export function checkedSecret(text: string): string {
  if (isSecret(text.trim())) return text.trim();
  throw INVALID_SECRET();
}

/** @throws {HttpError} 400 */
export function checkedFilter(text: string): string {
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) throw INVALID_FILTER();
  parseChangeFilter(text);
  return text.trim();
}
