import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Transaction } from '#platform/database/kysely.ts';
import { fingerprint, type RequestContent, sender } from './fingerprint.ts';
import { parseKey } from './key.ts';
import { type Answer, type IdempotencyLedger, KeyLost } from './ledger.ts';
import { OTHER_REQUEST, UNDER_WAY } from './repeatable.ts';

const HEADER = 'Idempotency-Key';
const REPLAYED = 'Idempotent-Replayed';
/** The headers of an answer that belong to what it tells; the others are made for each answer. */
const KEPT_HEADERS = ['Content-Type', 'Location', 'Vary'];

/**
 * Remembers the answer for the key of the request, if it has one, in the transaction that creates what it tells of.
 * It must be the answer the client gets. A rejection must roll the transaction back.
 */
export type Remember = (trx: Transaction, answer: Response) => Promise<void>;

/** The same, when the content has been received only now: as `compare` would return it. */
export type RememberContent = (trx: Transaction, content: RequestContent, answer: Response) => Promise<void>;

/** How a request with an idempotency key is carried out. */
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
  answer(
    c: Context,
    content: RequestContent,
    create: (remember: Remember) => Promise<Response>,
  ): Promise<Response> {
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
