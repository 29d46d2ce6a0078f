import { z } from 'zod';
import { refusal } from '#platform/http/errors/refusal.ts';
import { IdempotencyKey } from './key.ts';

export const UNDER_WAY = refusal(409, 'A request with this Idempotency-Key is still being carried out.', [], {
  'Retry-After': '5',
});
export const OTHER_REQUEST = refusal(422, 'This Idempotency-Key was sent with another request before.');

/** For endpoints that answer a repeated request as they did the first. */
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
