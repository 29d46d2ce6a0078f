import { text } from 'node:stream/consumers';
import { UsageError } from '../command.ts';

/** Returns the account of another server. @throws {UsageError} without a user name or a password */
export async function readCredentials(
  options: { user?: string | undefined; 'password-stdin'?: boolean | undefined },
  { INLET_PASSWORD }: NodeJS.ProcessEnv,
): Promise<{ username: string; password: string }> {
  const { user: username } = options;
  const password = options['password-stdin'] ? (await text(process.stdin)).replace(/\r?\n$/, '') : INLET_PASSWORD;
  if (username && password) return { username, password };
  throw new UsageError(
    'A server requires --user, and its password on standard input (--password-stdin) or in INLET_PASSWORD.',
  );
}
