/** The embedded PostgreSQL cannot run. The message is one line for the terminal. */
export class EmbeddedDatabaseError extends Error {
  override name = 'EmbeddedDatabaseError';
}
