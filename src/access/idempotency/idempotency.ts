import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { Transaction } from '#platform/database/kysely.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { fingerprint, IdempotencyKey, parseKey, type RequestContent, sender } from './idempotency-key.ts';
import { type Answer, type IdempotencyLedger, KeyLost } from './ledger.ts';

export const UNDER_WAY = refusal(409, 'A request with this Idempotency-Key is still being carried out.', [], {
  'Retry-After': '5',
});
export const OTHER_REQUEST = refusal(422, 'This Idempotency-Key was sent with another request before.');

/** Documents an endpoint that answers a repeated request with the first answer. */
export const REPEATABLE = {
  headers: z.object({
    'Idempotency-Key': IdempotencyKey.optional().meta({
      description:
        'A key of your choice. The same key and request within 24 hours get the first answer again, and nothing is created twice.',
      example: 'c0a8012e-import-17',
    }),
  }),
  refusals: [UNDER_WAY, OTHER_REQUEST],
};

const HEADER = 'Idempotency-Key';
const REPLAYED = 'Idempotent-Replayed';
/** The headers that are kept with an answer; all other headers are made for each answer. */
const KEPT_HEADERS = ['Content-Type', 'Location', 'Vary'];

/**
 * Remembers the answer for the key of the request, if it has one, in the transaction that creates the resource.
 * It must be the answer the client gets. A rejection must roll the transaction back.
 */
export type Remember = (trx: Transaction, answer: Response) => Promise<void>;

/** The same for content that was received after the key was claimed: as `compare` would return it. */
export type RememberContent = (trx: Transaction, content: RequestContent, answer: Response) => Promise<void>;

/** The steps of a request that can carry an idempotency key. */
export interface IdempotentWork {
  /** Reads a request that was answered before, to compare it; must change nothing. */
  compare(): Promise<RequestContent>;
  /** Does what the request asks for. When it fails, the key is free again. */
  create(remember: RememberContent): Promise<Response>;
}

/**
 * Lets clients repeat requests that create something: with the header `Idempotency-Key`, the same account gets the
 * first answer again for 24 hours. Only success is remembered: after a refusal or a fault the key is free, so the
 * corrected request may carry it, too.
 */
export class Idempotency {
  readonly #ledger: IdempotencyLedger;

  constructor(ledger: IdempotencyLedger) {
    this.#ledger = ledger;
  }

  /**
   * Answers a request whose content is at hand.
   *
   * @throws {HttpError} 400 for a key that is none, 409 while the first request is under way, 422 for another request
   */
  answer(c: Context, content: RequestContent, create: (remember: Remember) => Promise<Response>): Promise<Response> {
    return this.carryOut(c, {
      compare: async () => content,
      create: (remember) => create((trx, answer) => remember(trx, content, answer)),
    });
  }

  /** Like `answer`, for a request whose body is still to come: 400 and 409 come before it is read. */
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
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    body: await response.clone().text(),
  };
}

function replay(c: Context, { status, headers, body }: Answer): Response {
  c.var.log.info({ status }, 'answered again, as for the first request with this idempotency key');
  return c.body(body, status as ContentfulStatusCode, { ...headers, [REPLAYED]: 'true' });
}
