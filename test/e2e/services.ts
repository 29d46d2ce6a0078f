import { redisAvailable } from '../support/redis.ts';

/** What a server can be configured with: its embedded parts, or real services instead of them. */
export const SERVICES = {
  embedded: { redis: false, s3: false },
  'Redis and S3': { redis: true, s3: true },
} as const;

export type Services = keyof typeof SERVICES;

/** Whether the services can be had here. @throws in CI, where they must be */
export async function available(services: Services): Promise<boolean> {
  return !SERVICES[services].redis || (await redisAvailable());
}
