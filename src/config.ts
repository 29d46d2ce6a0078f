import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import {
  allowed,
  choice,
  flag,
  integer,
  type NamedHost,
  namedHosts,
  networks,
  origins,
  text,
  url,
  urlOrFile,
} from './config/kinds.ts';
import { redact } from './config/redact.ts';

/** A variable of the environment that has a value Inlet cannot work with. The message is one line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Whether only this machine can reach what listens there. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;
const DEFAULT_ADMIN_PASSWORD = 'opencast';

const Environment = z.object({
  HOST: text.default('127.0.0.1'),
  PORT: integer(1, 65535).default(8080),
  PUBLIC_URL: url('http', 'https').optional(),
  CORS_ORIGINS: origins.optional(),
  DATA_DIR: text.default('./data'),
  DATABASE_URL: url('postgres', 'postgresql').optional(),
  REDIS_URL: url('redis', 'rediss').optional(),
  S3_BUCKET: text.optional(),
  S3_FORCE_PATH_STYLE: flag.default(false),
  ADMIN_USERNAME: z
    .string()
    .regex(/^[^:]+$/)
    .meta({ allowed: 'a name without a colon' })
    .default('admin'),
  ADMIN_PASSWORD: text.optional(),
  FFMPEG_PATH: text.optional(),
  FFPROBE_PATH: text.optional(),
  ALLOW_BUNDLED_FFMPEG: flag.default(false),
  WORKER_CONCURRENCY: integer(1, 256).default(2),
  MAX_UPLOAD_BYTES: integer(1, Number.MAX_SAFE_INTEGER).default(100 * 2 ** 30),
  UPLOAD_IDLE_SECONDS: integer(1, 3600).default(60),
  UPLOAD_EXPIRY_HOURS: integer(1, 8760).default(48),
  DRAFT_EXPIRY_DAYS: integer(1, 365).default(14),
  MAX_PARALLEL_UPLOADS: integer(1, 100_000).optional(),
  UPLOAD_MEMORY_BYTES: integer(16 * 2 ** 20, Number.MAX_SAFE_INTEGER).optional(),
  INGEST_URL_HOSTS: namedHosts.optional(),
  SHUTDOWN_SECONDS: integer(1, 3600).default(30),
  SCHEDULE_MIN_GAP_SECONDS: integer(0, 86_400).default(0),
  SCHEDULE_MAX_OCCURRENCES: integer(1, 10_000).default(1000),
  RECORDING_GRACE_SECONDS: integer(0, 31_536_000).default(86_400),
  URL_SIGNING_SECRET: text.optional(),
  URL_SIGNING_KEY_ID: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/)
    .meta({ allowed: '1 to 64 letters, digits and . _ -' })
    .default('inlet'),
  URL_SIGNING_TTL: integer(1, 31_536_000).default(7200),
  JWT_JWKS: urlOrFile.optional(),
  JWT_ISSUER: text.optional(),
  JWT_AUDIENCE: text.optional(),
  JWT_ROLES_CLAIM: text.default('roles'),
  JWT_USERNAME_CLAIM: text.default('sub'),
  WORKFLOWS_DIR: text.optional(),
  METADATA_DIR: text.optional(),
  COMMANDS_DIR: text.optional(),
  STUDIO_DIR: text.optional(),
  TRUSTED_PROXIES: networks.optional(),
  METRICS_PORT: integer(1, 65535).optional(),
  CHANGES_DAYS: integer(1, 3650).default(14),
  WEBHOOK_HOSTS: namedHosts.optional(),
  LOG_LEVEL: choice('trace', 'debug', 'info', 'warn', 'error', 'fatal').default('info'),
  LOG_FORMAT: choice('json', 'pretty').default('json'),
});

/** The names of all variables. */
export const VARIABLES: readonly string[] = Object.keys(Environment.shape);

type Variables = z.infer<typeof Environment>;

/** How tokens of an identity provider are verified and read. */
export interface JwtConfig {
  /** Where the key set is: an http or https URL, or the absolute path of a file. */
  keySet: string;
  issuer: string;
  audience: string;
  /** Names of claims, or paths of names with dots between them. */
  claims: { roles: string; username: string };
}

/** What may be scheduled, and for how long a recording is awaited. */
export interface SchedulingConfig {
  /** What has to lie between two recordings of one agent. */
  minGapMs: number;
  /** Events that one recurrence rule may create. */
  maxOccurrences: number;
  /** After its end a recording that has not come by then is taken for missed. */
  recordingGraceMs: number;
}

/** Everything an operator can set, checked and in the units the code works with. Paths are absolute. */
export interface Config {
  host: string;
  port: number;
  /** Base of every URL handed out, without a slash at its end. */
  publicUrl: string;
  /** Other sites whose pages may use the API. */
  corsOrigins: readonly string[];
  dataDir: string;
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
  /** Object storage in a bucket; a folder below dataDir when undefined. */
  s3: { bucket: string; forcePathStyle: boolean } | undefined;
  admin: { username: string; password: string };
  ffmpegPath: string | undefined;
  ffprobePath: string | undefined;
  /** Whether the ffmpeg from npm may be given files that come from other machines. */
  allowBundledFfmpeg: boolean;
  workerConcurrency: number;
  /** Bytes of all tracks of one request together. */
  maxUploadBytes: number;
  uploadIdleMs: number;
  /** How long an upload of several requests lives without another byte. */
  uploadExpiryMs: number;
  /** How long a media package lives that nobody has ingested. */
  draftExpiryMs: number;
  /** Uploads that a process receives at once; all that come when undefined. */
  maxParallelUploads: number | undefined;
  /** What all uploads of a process together may hold of what is not stored yet, in bytes; the storage's default when undefined. */
  uploadMemoryBytes: number | undefined;
  /** Hosts that files may be fetched from when a client gives their address; none when undefined. */
  ingestUrlHosts: readonly NamedHost[] | undefined;
  /** How long a process may take to stop after the first signal. */
  shutdownMs: number;
  scheduling: SchedulingConfig;
  /** `ttlSeconds`: how long a signed address is good unless the client says otherwise. */
  urlSigning: { keyId: string; secret: string; ttlSeconds: number } | undefined;
  /** Bearer tokens of an identity provider; none are taken when undefined. */
  jwt: JwtConfig | undefined;
  /** How long what has happened is kept in the log of changes. */
  changesDays: number;
  /** Hosts that webhooks may have although their addresses are private. */
  webhookHosts: readonly NamedHost[];
  workflowsDir: string | undefined;
  /** Folder with catalogs and lists of the site's own. */
  metadataDir: string | undefined;
  /** Folder with the site's own programs, which workflows may run. */
  commandsDir: string | undefined;
  /** Folder with a built recorder for browsers. */
  studioDir: string | undefined;
  /** Who says on whose behalf it asks. */
  trustedProxies: readonly { address: string; prefix: number }[];
  /** Where metrics are served without an account; nowhere when undefined. */
  metricsPort: number | undefined;
  log: { level: Variables['LOG_LEVEL']; format: Variables['LOG_FORMAT'] };
}

/**
 * Reads the configuration from environment variables; an empty variable counts as unset.
 *
 * @throws {ConfigError} naming the first wrong variable, its value and what is allowed
 */
export function loadConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.keys(Environment.shape).map((name) => [name, environment[name] || undefined]),
  );
  const parsed = Environment.safeParse(given);
  if (!parsed.success) throw wrongValue(given, String(parsed.error.issues[0]?.path[0]));
  const v = parsed.data;
  return {
    host: v.HOST,
    port: v.PORT,
    publicUrl: (v.PUBLIC_URL ?? `http://${v.HOST.includes(':') ? `[${v.HOST}]` : v.HOST}:${v.PORT}`).replace(
      /\/+$/,
      '',
    ),
    corsOrigins: v.CORS_ORIGINS ?? [],
    dataDir: resolve(v.DATA_DIR),
    databaseUrl: v.DATABASE_URL,
    redisUrl: v.REDIS_URL,
    s3: v.S3_BUCKET ? { bucket: v.S3_BUCKET, forcePathStyle: v.S3_FORCE_PATH_STYLE } : undefined,
    admin: { username: v.ADMIN_USERNAME, password: adminPassword(v) },
    ffmpegPath: absolute('FFMPEG_PATH', v.FFMPEG_PATH),
    ffprobePath: absolute('FFPROBE_PATH', v.FFPROBE_PATH),
    allowBundledFfmpeg: v.ALLOW_BUNDLED_FFMPEG,
    workerConcurrency: v.WORKER_CONCURRENCY,
    maxUploadBytes: v.MAX_UPLOAD_BYTES,
    uploadIdleMs: v.UPLOAD_IDLE_SECONDS * 1000,
    uploadExpiryMs: v.UPLOAD_EXPIRY_HOURS * 3_600_000,
    draftExpiryMs: v.DRAFT_EXPIRY_DAYS * 86_400_000,
    maxParallelUploads: v.MAX_PARALLEL_UPLOADS,
    uploadMemoryBytes: v.UPLOAD_MEMORY_BYTES,
    ingestUrlHosts: v.INGEST_URL_HOSTS,
    shutdownMs: v.SHUTDOWN_SECONDS * 1000,
    scheduling: {
      minGapMs: v.SCHEDULE_MIN_GAP_SECONDS * 1000,
      maxOccurrences: v.SCHEDULE_MAX_OCCURRENCES,
      recordingGraceMs: v.RECORDING_GRACE_SECONDS * 1000,
    },
    urlSigning: v.URL_SIGNING_SECRET
      ? { keyId: v.URL_SIGNING_KEY_ID, secret: v.URL_SIGNING_SECRET, ttlSeconds: v.URL_SIGNING_TTL }
      : undefined,
    jwt: jwtConfig(v),
    trustedProxies: v.TRUSTED_PROXIES ?? [],
    metricsPort: metricsPort(v),
    changesDays: v.CHANGES_DAYS,
    webhookHosts: v.WEBHOOK_HOSTS ?? [],
    workflowsDir: v.WORKFLOWS_DIR && resolve(v.WORKFLOWS_DIR),
    metadataDir: v.METADATA_DIR && resolve(v.METADATA_DIR),
    commandsDir: v.COMMANDS_DIR && resolve(v.COMMANDS_DIR),
    studioDir: v.STUDIO_DIR && resolve(v.STUDIO_DIR),
    log: { level: v.LOG_LEVEL, format: v.LOG_FORMAT },
  };
}

function wrongValue(given: Record<string, string | undefined>, name: string): ConfigError {
  const field: z.ZodType = Environment.shape[name as keyof Variables];
  const text = given[name] ?? '';
  const open = !/PASSWORD|SECRET|_URL$/.test(name) && !text.includes('@') && !URL.canParse(text);
  const value = open ? text : redact(text);
  return new ConfigError(`${name} is ${JSON.stringify(value)}; allowed is ${allowed(field)}.`);
}

function adminPassword(v: Variables): string {
  if (v.ADMIN_PASSWORD) return v.ADMIN_PASSWORD;
  if (isLoopback(v.HOST)) return DEFAULT_ADMIN_PASSWORD;
  throw new ConfigError(
    `ADMIN_PASSWORD is not set; it must be while HOST is ${JSON.stringify(v.HOST)}, which is not a loopback address.`,
  );
}

function metricsPort({ METRICS_PORT, PORT }: Variables): number | undefined {
  if (METRICS_PORT !== PORT) return METRICS_PORT;
  throw new ConfigError(`METRICS_PORT is ${METRICS_PORT}, which is PORT; allowed is another one.`);
}

function jwtConfig(v: Variables): JwtConfig | undefined {
  if (!v.JWT_JWKS) return undefined;
  return {
    keySet: v.JWT_JWKS,
    issuer: needed('JWT_ISSUER', v.JWT_ISSUER),
    audience: needed('JWT_AUDIENCE', v.JWT_AUDIENCE),
    claims: { roles: v.JWT_ROLES_CLAIM, username: v.JWT_USERNAME_CLAIM },
  };
}

function needed(name: string, value: string | undefined): string {
  if (!value) throw new ConfigError(`${name} is not set; it must be while JWT_JWKS is.`);
  return value;
}

function absolute(name: string, path: string | undefined): string | undefined {
  if (path && !isAbsolute(path)) {
    throw new ConfigError(`${name} is ${JSON.stringify(path)}; allowed is an absolute path.`);
  }
  return path;
}

/** The configuration for a log line: no password, no secret. */
export function describeConfig(config: Config): Record<string, unknown> {
  return {
    ...config,
    databaseUrl: config.databaseUrl && redact(config.databaseUrl),
    redisUrl: config.redisUrl && redact(config.redisUrl),
    admin: { ...config.admin, password: '[redacted]' },
    urlSigning: config.urlSigning && { ...config.urlSigning, secret: '[redacted]' },
  };
}
