import { z } from 'zod';

/** The process answers. */
export const Liveness = z.object({ status: z.literal('live') }).meta({ id: 'Liveness' });

const part = z.enum(['ok', 'unavailable']);

/** Whether every part that the service depends on answers, too. */
export const Readiness = z
  .object({
    status: z.enum(['ready', 'unavailable']),
    database: part,
    queue: part,
    storage: part,
    worker: part,
  })
  .meta({ id: 'Readiness' });
