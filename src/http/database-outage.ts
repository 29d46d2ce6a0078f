/** Refused, reset or timed-out sockets, as the operating system names them. */
const SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/**
 * SQLSTATE: connection exception, shutdown, crash, not yet accepting connections, too many connections; and what took
 * longer than its time limit, a statement or a pause in a transaction.
 */
const SQLSTATE = /^(08...|57P0[123]|53300|57014|25P03)$/;
/** Errors of the driver that carry no code. */
const MESSAGE =
  /^(timeout exceeded when trying to connect|Connection terminated( unexpectedly| due to connection timeout)?|Client has encountered a connection error and is not queryable)$/;
const DEPTH = 4;

/**
 * Whether a database query failed because the database could not be reached, rather than because of the query.
 * Errors of the S3 client, which carry `$metadata`, are none of the database's.
 */
export function isDatabaseOutage(error: unknown, depth = DEPTH): boolean {
  if (!(error instanceof Error) || depth === 0 || '$metadata' in error) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    SOCKET.has(code) ||
    SQLSTATE.test(code) ||
    MESSAGE.test(error.message) ||
    isDatabaseOutage(error.cause, depth - 1)
  );
}
