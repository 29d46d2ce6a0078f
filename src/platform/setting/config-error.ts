/** An environment variable has an invalid value. The message is one line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
