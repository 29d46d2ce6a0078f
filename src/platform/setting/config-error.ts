/** A variable of the environment that has a value Inlet cannot work with. The message is one line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
