import { resolve } from 'node:path';
import type { z } from 'zod';
import { ConfigError, describeAllowed } from '../setting/value-kinds.ts';
import { storagePlace } from '../storage/backends.ts';
import { Environment, type Variables } from './environment.ts';

/** Returns a URL without its password, wherever database clients accept one; `[redacted]` if it is not such a URL. */
function redact(value: string): string {
  if (!URL.canParse(value)) return '[redacted]';
  const parsed = new URL(value);
  if (parsed.pathname.includes('@')) return '[redacted]';
  if (parsed.password) parsed.password = 'redacted';
  if (parsed.searchParams.has('password')) parsed.searchParams.set('password', 'redacted');
  return parsed.toString();
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;
const DEFAULT_ADMIN_PASSWORD = 'opencast';

/** All settings, checked and in the units of the code. Paths are absolute. */
export type Config = ReturnType<typeof loadConfig>;

/** The rule for watching recordings: the setting, or `signed` if every address must be signed. */
export type WatchAccess = 'signed' | NonNullable<Variables['WATCH_ACCESS']>;

export type OperationSettings = Config['operations'];

/** Returns true if Inlet is reachable from this machine only, also behind a proxy on a loopback address. */
export function isOnlyLocal(config: { host: string; publicUrl: string }): boolean {
  return reachedBy(config) === undefined;
}

/** Returns the reason why other machines can reach Inlet, or undefined. */
function reachedBy({ host, publicUrl }: { host: string; publicUrl: string }): string | undefined {
  if (!LOOPBACK.test(host)) return `HOST is ${JSON.stringify(host)}, which is not a loopback address`;
  const hostname = URL.parse(publicUrl)?.hostname ?? publicUrl;
  if (!LOOPBACK.test(hostname)) return `PUBLIC_URL leads to ${hostname}, which is not a loopback address`;
  return undefined;
}

/**
 * Reads the configuration from environment variables; an empty variable counts as unset.
 *
 * @param isGuest true if another server listens for Inlet, on an unknown address
 * @throws {ConfigError} names the first invalid variable, its value and the allowed values
 */
export function loadConfig(environment: Record<string, string | undefined>, { isGuest = false } = {}) {
  const given = Object.fromEntries(
    Object.keys(Environment.shape).map((name) => [name, environment[name] || undefined]),
  );
  const parsed = Environment.safeParse(given);
  if (!parsed.success) throw wrongValue(given, String(parsed.error.issues[0]?.path[0]));
  const v = parsed.data;
  const address = addressSettings(v);
  const reached = isGuest ? 'another server listens for Inlet' : reachedBy(address);
  return {
    ...address,
    ...uploadSettings(v),
    corsOrigins: v.CORS_ORIGINS ?? [],
    dataDir: resolve(v.DATA_DIR),
    databaseUrl: v.DATABASE_URL,
    redisUrl: v.REDIS_URL,
    storage: storagePlace(v, resolve(v.DATA_DIR)),
    admin: { username: v.ADMIN_USERNAME, password: adminPassword(v, reached) },
    ffmpegPath: v.FFMPEG_PATH,
    ffprobePath: v.FFPROBE_PATH,
    /** True if the ffmpeg from npm may process files from other machines. */
    allowBundledFfmpeg: v.ALLOW_BUNDLED_FFMPEG,
    workerConcurrency: v.WORKER_CONCURRENCY,
    shutdownMs: v.SHUTDOWN_SECONDS * 1000,
    scheduling: {
      /** Shortest gap between two recordings of one agent. */
      minGapMs: v.SCHEDULE_MIN_GAP_SECONDS * 1000,
      /** Events that one recurrence rule may create. */
      maxOccurrences: v.SCHEDULE_MAX_OCCURRENCES,
      /** Time after the scheduled end before a missing recording counts as missed. */
      recordingGraceMs: v.RECORDING_GRACE_SECONDS * 1000,
    },
    /** The series that capture agents list. */
    agentSeries: v.AGENT_SERIES,
    watchAccess: watchAccess(v),
    /** The status of redirects from the addresses of another server. */
    oldAddressStatus: v.OLD_ADDRESSES === 'moved' ? (301 as const) : (302 as const),
    /** `ttlSeconds`: default lifetime of a signed URL. */
    urlSigning: { keyId: v.URL_SIGNING_KEY_ID, secret: v.URL_SIGNING_SECRET, ttlSeconds: v.URL_SIGNING_TTL },
    /** Bearer tokens are rejected when undefined. */
    jwt: jwtConfig(v),
    /** File with the keys of learning platforms, which cannot launch anything when undefined. */
    ltiKeys: v.LTI_KEYS,
    /** Serves metrics without an account; off when undefined. */
    metricsPort: metricsPort(v),
    traces: tracesConfig(v),
    /** Views are counted and shown if enabled; days begin in the time zone. */
    statistics: { isEnabled: v.STATISTICS, timeZone: v.TZ },
    changesDays: v.CHANGES_DAYS,
    /** Webhook hosts that may have private addresses. */
    webhookHosts: v.WEBHOOK_HOSTS ?? [],
    workflowsDir: v.WORKFLOWS_DIR && resolve(v.WORKFLOWS_DIR),
    metadataDir: v.METADATA_DIR && resolve(v.METADATA_DIR),
    /** `commandsDir` holds the site's programs that workflows may run; `maxFileBytes` limits what these write. */
    operations: {
      commandsDir: v.COMMANDS_DIR && resolve(v.COMMANDS_DIR),
      maxFileBytes: v.MAX_UPLOAD_BYTES,
      transcription: transcriptionSettings(v),
    },
    /** Folder with a built recorder for browsers. */
    studioDir: v.STUDIO_DIR && resolve(v.STUDIO_DIR),
    /** Folder with a built video editor. */
    editorDir: v.EDITOR_DIR && resolve(v.EDITOR_DIR),
    log: { level: v.LOG_LEVEL, format: v.LOG_FORMAT },
  };
}

function addressSettings(v: Variables) {
  const host = /^[^[].*:/.test(v.HOST) ? `[${v.HOST}]` : v.HOST;
  return {
    host: v.HOST,
    port: v.PORT,
    /** Base of every URL in responses, without a trailing slash. */
    publicUrl: (v.PUBLIC_URL ?? `http://${host}:${v.PORT}`).replace(/\/+$/, ''),
    /** Proxies whose `Forwarded` and `X-Forwarded-For` headers are trusted. */
    trustedProxies: v.TRUSTED_PROXIES ?? [],
  };
}

function uploadSettings(v: Variables) {
  return {
    maxUploadBytes: v.MAX_UPLOAD_BYTES,
    uploadIdleMs: v.UPLOAD_IDLE_SECONDS * 1000,
    /** Lifetime of a resumable upload without another byte. */
    uploadExpiryMs: v.UPLOAD_EXPIRY_HOURS * 3_600_000,
    /** Lifetime of a media package that is not ingested. */
    draftExpiryMs: v.DRAFT_EXPIRY_DAYS * 86_400_000,
    /** Concurrent uploads of a process; unlimited when undefined. */
    maxParallelUploads: v.MAX_PARALLEL_UPLOADS,
    /** Memory for all uploads of a process, in bytes; the default of the storage when undefined. */
    uploadMemoryBytes: v.UPLOAD_MEMORY_BYTES,
    /** Hosts that files may be fetched from by URL; none when undefined. */
    ingestUrlHosts: v.INGEST_URL_HOSTS,
  };
}

/** Without an address, nothing is transcribed. `language` is detected when undefined. */
function transcriptionSettings(v: Variables) {
  if (!v.TRANSCRIBE_URL) return undefined;
  const { TRANSCRIBE_KEY: key, TRANSCRIBE_MODEL: model, TRANSCRIBE_LANGUAGE: language } = v;
  return { url: v.TRANSCRIBE_URL, key, model, language };
}

function wrongValue(given: Record<string, string | undefined>, name: string): ConfigError {
  const field: z.ZodType = Environment.shape[name as keyof Variables];
  const text = given[name] ?? '';
  const open = !/PASSWORD|SECRET|_KEY$|_URL$/.test(name) && !text.includes('@') && !URL.canParse(text);
  const value = open ? text : redact(text);
  return new ConfigError(`${name} is ${JSON.stringify(value)}; allowed is ${describeAllowed(field)}.`);
}

function adminPassword({ ADMIN_PASSWORD }: Variables, reached: string | undefined): string {
  if (ADMIN_PASSWORD) return ADMIN_PASSWORD;
  if (reached === undefined) return DEFAULT_ADMIN_PASSWORD;
  throw new ConfigError(`ADMIN_PASSWORD is not set; it is required while ${reached}.`);
}

function watchAccess({ WATCH_ACCESS, URL_SIGNING_SECRET }: Variables): WatchAccess {
  if (!URL_SIGNING_SECRET) return WATCH_ACCESS ?? 'page';
  if (!WATCH_ACCESS) return 'signed';
  if (WATCH_ACCESS !== 'link') return WATCH_ACCESS;
  throw new ConfigError(
    'WATCH_ACCESS is "link" while URL_SIGNING_SECRET is set; allowed is page or strict, or no WATCH_ACCESS to require signed addresses.',
  );
}

function metricsPort({ METRICS_PORT, PORT }: Variables): number | undefined {
  if (METRICS_PORT !== PORT) return METRICS_PORT;
  throw new ConfigError(`METRICS_PORT is ${METRICS_PORT}, the same as PORT; allowed is another port.`);
}

/** Unlike the specification, sends nothing to this machine by default. */
function tracesConfig(v: Variables) {
  const endpoint = v.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? v.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || v.OTEL_SDK_DISABLED || v.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const { host, protocol } = new URL(endpoint);
  const protocolOf = v.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? v.OTEL_EXPORTER_OTLP_PROTOCOL;
  const format: 'json' | 'protobuf' = protocolOf === 'http/json' ? 'json' : 'protobuf';
  return { origin: `${protocol}//${host}`, format };
}

function jwtConfig(v: Variables) {
  if (!v.JWT_JWKS) return undefined;
  return {
    /** An http(s) URL of the key set, or the absolute path of a file. */
    keySet: v.JWT_JWKS,
    issuer: needed('JWT_ISSUER', v.JWT_ISSUER),
    audience: needed('JWT_AUDIENCE', v.JWT_AUDIENCE),
    /** Claim names, or dotted paths. */
    claims: { roles: v.JWT_ROLES_CLAIM, username: v.JWT_USERNAME_CLAIM },
  };
}

function needed(name: string, value: string | undefined): string {
  if (!value) throw new ConfigError(`${name} is not set; it is required with JWT_JWKS.`);
  return value;
}

/** Returns the configuration without passwords and secrets, for the log. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { transcription } = config.operations;
  return {
    ...config,
    databaseUrl: config.databaseUrl && redact(config.databaseUrl),
    redisUrl: config.redisUrl && redact(config.redisUrl),
    storage: config.storage.name,
    admin: { ...config.admin, password: '[redacted]' },
    urlSigning: { ...config.urlSigning, ...(config.urlSigning.secret && { secret: '[redacted]' }) },
    operations: { ...config.operations, transcription: transcription && { ...transcription, key: '[redacted]' } },
  };
}
