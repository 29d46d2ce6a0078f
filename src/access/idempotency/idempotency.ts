import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { Transaction } from '#platform/database/kysely.ts';
import { parseInput } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { type Answer, type IdempotencyLedger, KeyLost } from './idempotency-ledger.ts';

const LENGTH = 255;
/** The unquoted form. It excludes commas and blanks, which would mean a repeated header. */
const PLAIN = /^[\x21\x23-\x2b\x2d-\x7e]+$/;
/** The quoted form: a string of RFC 9651, as the draft of the header requires. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"$/;
const error = `The header Idempotency-Key must be 1 to ${LENGTH} ASCII characters, in quotation marks if it contains blanks or commas.`;

/** The header `Idempotency-Key`; quotation marks are not part of the key. */
const IdempotencyKey = z
  .string({ error })
  .trim()
  .regex(new RegExp(`${PLAIN.source}|${QUOTED.source}`), { error, abort: true })
  .transform((text) => QUOTED.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') ?? text)
  .refine((key) => key.length <= LENGTH, { error });

export function parseKey(header: string): string {
  return parseInput(IdempotencyKey, header);
}

/** The request content that the fingerprint covers. */
export interface RequestContent {
  fields: ReadonlyMap<string, string>;
  files?: readonly { name: string; filename: string; size: number; sha256: string }[];
}

/** Returns a digest of method, path and content. The order of form fields does not matter. */
export function fingerprint(c: Context, { fields, files = [] }: RequestContent): string {
  return digest([
    c.req.method,
    c.req.path.replace(/\/+$/, ''),
    [...fields].sort(([a], [b]) => (a < b ? -1 : 1)),
    files.map(({ name, filename, size, sha256 }) => [name, filename, size, sha256]),
  ]);
}

/** Returns a digest of the account and of the user it acts as. */
export function sender(c: Context): string {
  const { account, principal, signedIn } = c.var;
  const acting = principal === signedIn ? null : [principal.username, [...principal.roles].sort()];
  return digest([signedIn?.provider ?? '', account ?? '', acting]);
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

const UNDER_WAY = refusal(409, 'A request with this Idempotency-Key is still in progress. Try again later.', [], {
  'Retry-After': '5',
});
const OTHER_REQUEST = refusal(422, 'This Idempotency-Key was already used for a different request.');

export const REPEATABLE = {
  headers: z.object({
    'Idempotency-Key': IdempotencyKey.optional().meta({
      description:
        'A unique key. A repeated request with the same key within 24 hours returns the first response and creates nothing.',
      example: 'c0a8012e-import-17',
    }),
  }),
  refusals: [UNDER_WAY, OTHER_REQUEST],
};

const HEADER = 'Idempotency-Key';
const REPLAYED = 'Idempotent-Replayed';
/** The stored response headers; other headers are set again. */
const KEPT_HEADERS = ['Content-Type', 'Location', 'Vary'];

/** Stores the response in the transaction that creates the resource, which must roll back if this rejects. */
type Remember = (trx: Transaction, answer: Response) => Promise<void>;

/** Like `Remember`, for content that was received after the key was claimed. */
export type RememberContent = (trx: Transaction, content: RequestContent, answer: Response) => Promise<void>;

interface IdempotentWork {
  /** Reads a repeated request to compare it with the first; must change nothing. */
  compare(): Promise<RequestContent>;
  create(remember: RememberContent): Promise<Response>;
}

/**
 * Replays responses for requests with the header `Idempotency-Key`: the same account gets the first response for 24
 * hours. Only successful responses are stored; after an error, the corrected request may use the same key.
 */
export class Idempotency {
  readonly #ledger: IdempotencyLedger;

  constructor(ledger: IdempotencyLedger) {
    this.#ledger = ledger;
  }

  /** Executes a request that was read already. @throws {HttpError} 400, 409 while the first is in progress, 422 */
  answer(c: Context, content: RequestContent, create: (remember: Remember) => Promise<Response>): Promise<Response> {
    return this.carryOut(c, {
      compare: async () => content,
      create: (remember) => create((trx, answer) => remember(trx, content, answer)),
    });
  }

  /** Executes a request whose body is not read yet; 400 and 409 come before the body is read. */
  async carryOut(c: Context, { compare, create }: IdempotentWork): Promise<Response> {
    const header = c.req.header(HEADER);
    if (header === undefined) return create(async () => undefined);
    const known = await this.#ledger.take(sender(c), parseKey(header));
    if (known.state === 'under way') throw UNDER_WAY();
    if (known.state === 'answered') {
      if (fingerprint(c, await compare()) !== known.fingerprint) throw OTHER_REQUEST();
      return replay(c, known.answer);
    }
    const { attempt } = known;
    try {
      return await create(async (trx, content, response) => {
        await this.#ledger.complete(trx, attempt, fingerprint(c, content), await answerOf(response));
      });
    } catch (error) {
      throw error instanceof KeyLost ? UNDER_WAY() : error;
    } finally {
      await this.#ledger.release(attempt);
    }
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const headers = KEPT_HEADERS.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return { status: response.status, headers: Object.fromEntries(headers), body: await response.clone().text() };
}

function replay(c: Context, { status, headers, body }: Answer): Response {
  c.var.log.info({ status }, 'replayed the response of the first request with this idempotency key');
  return c.body(body, status as ContentfulStatusCode, { ...headers, [REPLAYED]: 'true' });
}
