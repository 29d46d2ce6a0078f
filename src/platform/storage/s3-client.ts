import { S3Client } from '@aws-sdk/client-s3';

const CONNECT_MS = 5_000;
/** From sending a request without a large body to the head of its answer. */
const ANSWER_MS = 30_000;
/** Concurrent uploads times their concurrent parts, and as many readers. */
const SOCKETS = 256;

/** The connections to one object storage. */
export interface S3Clients {
  client: S3Client;
  /**
   * Sends one attempt over a new connection, and waits as long as its caller: the result is true of the storage and not
   * of a connection.
   */
  probe: S3Client;
}

/**
 * Creates clients that take endpoint, region and credentials from the AWS SDK's standard environment variables. Every
 * request limits its waits for a connection and for an answer.
 */
export function createS3Clients(options: { forcePathStyle: boolean }): S3Clients {
  return {
    client: createClient(options, { attempts: 3, connectMs: CONNECT_MS, keepAlive: true }),
    probe: createClient(options, { attempts: 1, connectMs: undefined, keepAlive: false }),
  };
}

function createClient(
  { forcePathStyle }: { forcePathStyle: boolean },
  { attempts, connectMs, keepAlive }: { attempts: number; connectMs: number | undefined; keepAlive: boolean },
): S3Client {
  return new S3Client({
    forcePathStyle,
    // Stores other than AWS reject the checksums that the SDK would add to every request.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      // A paused player reads nothing for minutes: a silent socket is not an error.
      socketTimeout: 0,
      httpAgent: { keepAlive, maxSockets: SOCKETS },
      httpsAgent: { keepAlive, maxSockets: SOCKETS },
    },
  });
}
