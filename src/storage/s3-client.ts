import { S3Client } from '@aws-sdk/client-s3';

const CONNECT_MS = 5_000;
/** From sending a request to the head of its answer; a part of an upload included. */
const ANSWER_MS = 60_000;
/** Uploads at once times the parts each has under way, and as many readers. */
const SOCKETS = 256;

/**
 * A client that takes endpoint, region and credentials from the AWS SDK's standard environment variables. No request
 * waits for ever: neither for a connection nor for an answer.
 */
export function createS3Client(options: { forcePathStyle: boolean }): S3Client {
  return new S3Client({
    forcePathStyle: options.forcePathStyle,
    // Stores other than AWS refuse the checksums that the SDK would add to every request.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      // A player that pauses reads nothing for minutes: silence on a socket is no fault.
      socketTimeout: 0,
      httpAgent: { keepAlive: true, maxSockets: SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: SOCKETS },
    },
  });
}
