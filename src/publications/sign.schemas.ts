import { z } from 'zod';
import { Instant } from '../http/schemas.ts';

/** A signed address, or why there is none. */
export const SignedUrl = z
  .union([
    z.object({ url: z.url(), 'valid-until': Instant }),
    z.object({ error: z.string().describe('Why the address was not signed.') }),
  ])
  .meta({ id: 'SignedUrl' });
