import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigError, origins } from '#platform/setting/value-kinds.ts';
import { GUARDED_ROLES } from '../sessions/launched-accounts.ts';

const SHORTEST_SECRET = 16;

const text = z.string().min(1);
const webUrl = z
  .string()
  .refine(
    (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol),
    'must be a URL with https:// or http://',
  );
const role = z
  .string()
  .regex(/^[^\s,\p{Cc}]+$/u)
  .refine((name) => !GUARDED_ROLES.includes(name), `must be a role other than ${GUARDED_ROLES.join(', ')}`);

/** The settings of all learning platforms. */
const COMMON = {
  /** Part of user names; identifies the platform in sessions. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, - and _'),
  /** Stands before the course in roles, so that courses of two platforms do not share them. */
  contextPrefix: z
    .string()
    .regex(
      /^(?!ROLE_)[A-Za-z0-9_.-]{0,64}$/i,
      'must be up to 64 letters, digits and . - _, and must not begin with ROLE_',
    )
    .default(''),
  /** Roles of instructors, in addition to those of their courses. */
  instructorRoles: z.array(role).default([]),
  /** True if user names of the platform are user names of this server. */
  trustUsernames: z.boolean().default(false),
};

const Consumer = z.strictObject({
  ...COMMON,
  key: text,
  secret: z.string().min(SHORTEST_SECRET, `must have at least ${SHORTEST_SECRET} characters`),
  /** Origins that may frame pages. */
  origins: z.array(origins).default([]),
});

const Platform = z.strictObject({
  ...COMMON,
  issuer: text,
  clientId: text,
  deployments: z.array(text).min(1),
  authorization: webUrl,
  keys: webUrl,
  origins: z.array(origins).optional(),
});

const KeyFile = z.strictObject({
  consumers: z.array(Consumer).default([]),
  platforms: z.array(Platform).default([]),
  privateKey: text.optional(),
});

/** The key and secret of a learning platform that launches by LTI 1.1. */
export type LaunchConsumer = z.infer<typeof Consumer>;
/** A learning platform that launches by LTI 1.3. */
export type LaunchPlatform = z.infer<typeof Platform>;
/** The learning platforms of the configuration. */
export type LaunchKeys = z.infer<typeof KeyFile>;

/**
 * Reads the file of learning platforms.
 *
 * @throws {ConfigError} if it cannot be read or is invalid
 */
export async function readLaunchKeys(path: string): Promise<LaunchKeys> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw unusable(path, error instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read');
  }
  const { data, error } = KeyFile.safeParse(content);
  if (!data) {
    const [issue] = error.issues;
    throw unusable(path, `is invalid: ${issue?.path.join('.') || 'the file'}: ${issue?.message}`);
  }
  const { consumers, platforms } = data;
  requireUnique(
    path,
    'name',
    [...consumers, ...platforms].map(({ name }) => name),
  );
  requireUnique(
    path,
    'key',
    consumers.map(({ key }) => key),
  );
  requireUnique(
    path,
    'issuer with clientId',
    platforms.map(({ issuer, clientId }) => `${issuer} ${clientId}`),
  );
  return data;
}

function requireUnique(path: string, field: string, values: readonly string[]): void {
  const repeated = values.find((value, i) => values.indexOf(value) !== i);
  if (repeated !== undefined) throw unusable(path, `repeats the ${field} ${JSON.stringify(repeated)}`);
}

function unusable(path: string, reason: string): ConfigError {
  return new ConfigError(`LTI_KEYS is ${JSON.stringify(path)}, but the file ${reason}.`);
}

/** Returns the origins of learning platforms, whose pages may frame ours. */
export function frameOrigins({ consumers, platforms }: LaunchKeys): string[] {
  const own = consumers.flatMap((consumer) => consumer.origins.flat());
  const others = platforms.flatMap((platform) => platform.origins?.flat() ?? [new URL(platform.authorization).origin]);
  return [...new Set([...own, ...others])];
}

/** Returns what a session depends on, by the name of the platform: a changed secret or key set, or
 * the end of trust, ends its sessions. */
export function launchCredentials({ consumers, platforms }: LaunchKeys): Map<string, string> {
  return new Map([
    ...consumers.map(({ name, key, secret, trustUsernames }) => {
      return [name, JSON.stringify([key, secret, trustUsernames])] as const;
    }),
    ...platforms.map(({ name, issuer, clientId, keys, trustUsernames }) => {
      return [name, JSON.stringify([issuer, clientId, keys, trustUsernames])] as const;
    }),
  ]);
}
