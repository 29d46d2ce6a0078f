import { S3Client } from '@aws-sdk/client-s3';

const CONNECT_MS = 5_000;
/** From sending a request without a large body to the head of its answer. */
const ANSWER_MS = 30_000;
/** Uploads at once times the parts each has under way, and as many readers. */
const SOCKETS = 256;

/** The connections to one object storage. */
export interface S3Clients {
  client: S3Client;
  /**
   * Asks once, over a new connection, for as long as whoever asks wants to wait: what it learns is true of the storage and
   * not of a connection.
   */
  probe: S3Client;
}

/**
 * Clients that take endpoint, region and credentials from the AWS SDK's standard environment variables. No request waits
 * for ever: neither for a connection nor for an answer.
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
    // Stores other than AWS refuse the checksums that the SDK would add to every request.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      // A player that pauses reads nothing for minutes: silence on a socket is no fault.
      socketTimeout: 0,
      httpAgent: { keepAlive, maxSockets: SOCKETS },
      httpsAgent: { keepAlive, maxSockets: SOCKETS },
    },
  });
}
