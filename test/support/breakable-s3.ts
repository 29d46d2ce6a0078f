import type { S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { S3Storage } from '#platform/storage/s3.ts';
import { createS3Clients, type S3Clients } from '#platform/storage/s3-client.ts';
import { eventually } from './eventually.ts';
import { startS3, type TestS3 } from './s3.ts';

/** A storage on an S3 server that tests can break; each has a client of its own. */
export class BreakableS3 {
  declare server: TestS3;
  declare client: S3Client;
  declare storage: S3Storage;
  declare clients: S3Clients;

  /** Opens it for the tests of the group that calls this. */
  static forThisGroup(): BreakableS3 {
    const s3 = new BreakableS3();
    beforeAll(async () => {
      s3.server = await startS3();
    });
    beforeEach(async () => {
      Object.assign(process.env, s3.server.env);
      s3.clients = createS3Clients({ forcePathStyle: true });
      s3.client = s3.clients.client;
      s3.storage = new S3Storage({ ...s3.clients, bucket: s3.bucket });
      await eventually(() => s3.storage.check());
    });
    afterEach(() => s3.storage.close());
    afterAll(() => s3.server.stop());
    return s3;
  }

  get bucket(): string {
    return this.server.env.S3_BUCKET ?? '';
  }

  /** Does something before each request of a kind is sent, below the SDK's retries. */
  intercept(command: string, before: (send: () => Promise<unknown>) => Promise<void>): void {
    this.client.middlewareStack.add(
      (next, context) => async (args) => {
        if (context.commandName === command) await before(() => next(args));
        return next(args);
      },
      { step: 'deserialize', priority: 'high' },
    );
  }

  /** Performs the first request of a kind, or not, and then fails as a broken connection does. */
  breakFirst(command: string, { performed }: { performed: boolean }): () => boolean {
    let broken = false;
    this.intercept(command, async (send) => {
      if (broken) return;
      broken = true;
      if (performed) await send();
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    });
    return () => broken;
  }

  async expectNothingLeft(): Promise<void> {
    expect(await Array.fromAsync(this.storage.list(''))).toEqual([]);
    expect(await Array.fromAsync(this.storage.unfinished())).toEqual([]);
  }
}
