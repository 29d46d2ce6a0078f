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
/** SQLSTATE: connection exception, shutdown, startup, resources, disk errors, timeouts, read-only server. */
const SQLSTATE = /^(08...|57P0[1235]|53...|58...|57014|55P03|25P03|25006)$/;
const MESSAGE =
  /^(timeout exceeded when trying to connect|timeout expired|Connection terminated( unexpectedly| due to connection timeout)?|Client has encountered a connection error and is not queryable)$/;
const DEPTH = 4;

/** Reports whether a query failed because of the database. Errors of the S3 client do not count. */
export function isDatabaseOutage(error: unknown, depth = DEPTH): boolean {
  if (!(error instanceof Error) || depth === 0 || '$metadata' in error) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    SOCKET.has(code) || SQLSTATE.test(code) || MESSAGE.test(error.message) || isDatabaseOutage(error.cause, depth - 1)
  );
}
