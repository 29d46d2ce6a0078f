import type { Database } from '#platform/database/kysely.ts';
import type { Directory } from '../accounts/directory.ts';
import { LaunchedAccounts } from '../sessions/launched-accounts.ts';
import { frameOrigins, type LaunchKeys, launchCredentials, readLaunchKeys } from './launch-keys.ts';
import { LaunchTokens } from './launch-tokens.ts';
import { PlatformVerifier } from './platform-launch.ts';
import { openToolKey, type ToolKey } from './tool-key.ts';

/** The learning platforms of the configuration, and the key pair that signs messages to them. */
export interface LaunchSettings {
  keys: LaunchKeys;
  toolKey: ToolKey;
}

/** The services for launches by learning platforms. */
export type Launches = ReturnType<typeof launchServices>;

/** Reads the configuration of learning platforms. @throws {ConfigError} */
export async function openLaunchSettings(path: string, dataDir: string): Promise<LaunchSettings> {
  const keys = await readLaunchKeys(path);
  return { keys, toolKey: await openToolKey(keys.privateKey, dataDir) };
}

/** Builds the services for launches. @param readKey reads the secret that all processes share */
export function launchServices(
  { keys, toolKey }: LaunchSettings,
  { database, directory, readKey }: { database: Database; directory: Directory; readKey: () => Promise<Buffer> },
) {
  return {
    ...keys,
    toolKey,
    /** Origins whose pages may frame ours for the users that they launch. */
    frameOrigins: frameOrigins(keys),
    accounts: new LaunchedAccounts(directory, launchCredentials(keys)),
    tokens: new LaunchTokens(database, readKey),
    verifier: new PlatformVerifier(),
  };
}
