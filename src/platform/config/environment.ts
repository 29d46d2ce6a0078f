import { z } from 'zod';
import {
  absolutePath,
  choice,
  flag,
  integer,
  language,
  listOf,
  namedHosts,
  origins,
  serverUrl,
  text,
  url,
  urlOrFile,
} from '../setting/value-kinds.ts';
import { STORAGE_VARIABLES } from '../storage/backends.ts';
import { canonicalAddress } from '../text/ip-address.ts';
import { isTimeZone, localTimeZone } from '../text/time-zone.ts';

/** A range of IP addresses with a common prefix. */
export interface Network {
  /** In the form of `canonicalAddress`. */
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  // RFC 1918 and RFC 4193.
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};
const BITS = { ipv4: 32, ipv6: 128 };
/** Length of the prefix of IPv4-mapped IPv6 addresses. */
const MAPPED_BITS = 96;

/** Parses `10.1.2.3`, `10.1.0.0/16`, `2001:db8::/32`, `loopback` and `private`. */
const networks = listOf(
  named,
  'IP addresses, networks such as 10.1.0.0/16 or 2001:db8::/32, and the names loopback and private, separated by commas',
);

function named(entry: string): (Network | undefined)[] {
  return Object.hasOwn(NAMED, entry) ? (NAMED[entry] ?? []).map(network) : [network(entry)];
}

function network(text: string): Network | undefined {
  const [, written = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = canonicalAddress(written);
  if (!address) return undefined;
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  const before = family === 'ipv4' && written.includes(':') ? MAPPED_BITS : 0;
  const prefix = digits === undefined ? BITS[family] : Number(digits) - before;
  return prefix >= 0 && prefix <= BITS[family] ? { address, prefix, family } : undefined;
}

/** Every variable, with its kind and a default that depends on no other variable. */
export const Environment = z.object({
  HOST: text.default('127.0.0.1'),
  PORT: integer(1, 65535).default(8080),
  PUBLIC_URL: url('http', 'https').optional(),
  CORS_ORIGINS: origins.optional(),
  DATA_DIR: text.default('./data'),
  DATABASE_URL: url('postgres', 'postgresql').optional(),
  REDIS_URL: url('redis', 'rediss').optional(),
  ...STORAGE_VARIABLES,
  ADMIN_USERNAME: z
    .string()
    .regex(/^[^:]+$/)
    .meta({ allowed: 'a name without a colon' })
    .default('admin'),
  ADMIN_PASSWORD: text.optional(),
  FFMPEG_PATH: absolutePath.optional(),
  FFPROBE_PATH: absolutePath.optional(),
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
  AGENT_SERIES: choice('writable', 'all').default('writable'),
  WATCH_ACCESS: choice('page', 'strict', 'link').optional(),
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
  LTI_KEYS: absolutePath.optional(),
  WORKFLOWS_DIR: text.optional(),
  METADATA_DIR: text.optional(),
  COMMANDS_DIR: text.optional(),
  TRANSCRIBE_URL: serverUrl.optional(),
  TRANSCRIBE_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .meta({ allowed: 'a key of printable ASCII characters without spaces' })
    .optional(),
  TRANSCRIBE_MODEL: text.default('whisper-1'),
  TRANSCRIBE_LANGUAGE: language.optional(),
  STUDIO_DIR: text.optional(),
  EDITOR_DIR: text.optional(),
  TRUSTED_PROXIES: networks.optional(),
  METRICS_PORT: integer(1, 65535).optional(),
  // The OpenTelemetry variables that decide whether and where traces are sent; its library reads the rest.
  OTEL_SDK_DISABLED: text.transform((value) => value.toLowerCase() === 'true').default(false),
  OTEL_TRACES_EXPORTER: choice('otlp', 'none').default('otlp'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https').optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url('http', 'https').optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: choice('http/protobuf', 'http/json').default('http/protobuf'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: choice('http/protobuf', 'http/json').optional(),
  OLD_ADDRESSES: choice('found', 'moved').default('found'),
  STATISTICS: flag.default(true),
  TZ: z.string().refine(isTimeZone).meta({ allowed: 'a time zone such as Europe/Berlin' }).default(localTimeZone()),
  CHANGES_DAYS: integer(1, 3650).default(14),
  WEBHOOK_HOSTS: namedHosts.optional(),
  LOG_LEVEL: choice('trace', 'debug', 'info', 'warn', 'error', 'fatal').default('info'),
  LOG_FORMAT: choice('json', 'pretty').default('json'),
});

export const VARIABLES: readonly string[] = Object.keys(Environment.shape);

export type Variables = z.infer<typeof Environment>;
