import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import { Directory } from '#access/accounts/directory.ts';
import { Idempotency } from '#access/idempotency/idempotency.ts';
import { IdempotencyLedger } from '#access/idempotency/ledger.ts';
import { Sessions } from '#access/sessions/sessions.ts';
import { SessionStore } from '#access/sessions/store.ts';
import { Authenticator } from '#access/sign-in/authenticator.ts';
import { Nonces, nonceKeyOf } from '#access/sign-in/digest/nonces.ts';
import { DigestVerifier } from '#access/sign-in/digest/verifier.ts';
import { openKeySet } from '#access/sign-in/key-set.ts';
import { Attempts } from '#access/sign-in/sign-in-throttle.ts';
import { TokenVerifier } from '#access/sign-in/tokens.ts';
import { ChangeFeed } from '#changes/feed.ts';
import { UploadGate } from '#ingest/gate.ts';
import { Digests } from '#ingest/tus/digests.ts';
import type { HealthChecks } from '#maintenance/health.endpoints.ts';
import { type Catalogs, loadCatalogs } from '#metadata/catalogs.ts';
import { UpdateStreams } from '#notifications/stream/update-streams.ts';
import { type Config, describeConfig } from '#platform/config/config.ts';
import { createDatabase, type Database } from '#platform/database/kysely.ts';
import { VITAL } from '#platform/database/limits.ts';
import { Locks } from '#platform/database/locks.ts';
import { Notifications } from '#platform/database/notifications.ts';
import { waitWhileAway } from '#platform/database/patience.ts';
import { createPool } from '#platform/database/pool.ts';
import { DatabaseWatch } from '#platform/database/watch.ts';
import { WebAppFolder } from '#platform/http/answer/web-app-folder.ts';
import { createQueue } from '#platform/queue/create.ts';
import type { WorkQueue } from '#platform/queue/port.ts';
import { ConfigError } from '#platform/setting/config-error.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { StagingLedger } from '#platform/storage/staging.ts';
import { createLogger, type Logger } from '#platform/telemetry/log.ts';
import type { ProcessParts } from '#platform/telemetry/process-metrics.ts';
import { Pulse } from '#platform/telemetry/pulse.ts';
import { loadDefinitions, type WorkflowDefinitions } from '#processing/definitions.ts';
import type { PublicationAddresses } from '#publications/index.ts';
import { UrlSigner } from '#publications/signing/url-signer.ts';
import { ServiceMetrics } from '#statistics/metrics/service-metrics.ts';

/**
 * Requests wait this long for a database that restarts: agents do not retry a failed upload. Worker loops wait by
 * themselves.
 */
const RESTART_MS = 15_000;
/** For the renewals of a process and two checks at a time. */
const VITAL_CONNECTIONS = 3;
/** Longest run of a loop before it counts as stuck. */
const STUCK_MS = 5 * 60_000;

/** Adapters and services of one process. */
export interface Services {
  log: Logger;
  database: Database;
  /**
   * The same database over a few reserved connections, for heartbeats, leases and checks. Keep statements short here.
   */
  vital: Database;
  /** Reports since when the database has been reachable, to judge the silence of others. */
  watch: Pick<DatabaseWatch, 'seen' | 'close'>;
  storage: ObjectStorage;
  queue: WorkQueue;
  staging: StagingLedger;
  catalogs: Catalogs;
  definitions: WorkflowDefinitions;
  directory: Directory;
  /** Checks passwords. */
  authenticator: Authenticator;
  /** Checks Digest credentials of machines. */
  digestVerifier: DigestVerifier;
  /** Checks tokens; absent without an identity provider. */
  tokens: TokenVerifier | undefined;
  /** Checks session cookies of browsers. */
  sessions: Sessions;
  idempotency: Idempotency;
  /** Write locks across all processes. */
  locks: Locks;
  notifications: Notifications;
  gate: UploadGate;
  digests: Digests;
  /** Lifetime of a resumable upload without another byte, in milliseconds. */
  lifetimeMs: number;
  /** Clients that follow changes. */
  streams: UpdateStreams;
  /** Where publications are served, and how their URLs are signed. */
  addresses: PublicationAddresses;
  health: HealthChecks;
  /** Detects loops of this process that hang. */
  pulse: Pulse;
  serviceMetrics: ServiceMetrics;
  /** A recorder for browsers, if one is configured. */
  studio: WebAppFolder | undefined;
}

/** The services of a process, with its configuration and identity. */
export interface Context extends Services {
  config: Config;
  role: 'api' | 'worker' | 'all';
  databaseUrl: string;
  pools: ProcessParts['pools'];
  /** Unique to this process, also after a restart. */
  processName: string;
  close(): Promise<void>;
}

/**
 * Builds the services that all roles share. Tests pass replacements.
 *
 * @throws {ConfigError} without a database URL, or for invalid configuration files
 */
export async function createContext(
  config: Config,
  role: Context['role'],
  overrides: Partial<Services> = {},
): Promise<Context> {
  const { databaseUrl, publicUrl } = config;
  if (!databaseUrl)
    throw new ConfigError('DATABASE_URL is not set; start Inlet with npm start, which brings a database.');
  const processName = `${role}-${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const log = overrides.log ?? createLogger(config.log);
  log.debug({ config: describeConfig(config) }, 'configuration');
  const catalogs = overrides.catalogs ?? (await loadCatalogs(config.metadataDir));
  const definitions = overrides.definitions ?? (await loadDefinitions(config.workflowsDir));
  const studio = overrides.studio ?? (await openStudio(config, role));
  const keys = config.jwt && role !== 'worker' ? await openKeySet(config.jwt.keySet) : undefined;
  const storage = overrides.storage ?? (await config.storage.open(config.uploadMemoryBytes));
  // Nothing below fails: a failed start must not leave connections open.
  const pool = createPool(databaseUrl, {
    max: 10 + config.workerConcurrency * 2,
    applicationName: `inlet ${role}`,
    onError: (error) => log.warn({ reason: error.message }, 'a database connection broke'),
  });
  const vitalPool = createPool(databaseUrl, {
    max: VITAL_CONNECTIONS,
    min: VITAL_CONNECTIONS,
    limits: VITAL,
    applicationName: `inlet ${role} vital`,
    onError: (error) => log.warn({ reason: error.message }, 'a database connection broke'),
  });
  const database = overrides.database ?? createDatabase(role === 'worker' ? pool : waitWhileAway(pool, RESTART_MS));
  const vital = overrides.vital ?? overrides.database ?? createDatabase(vitalPool);
  const queue = overrides.queue ?? createQueue(config, databaseUrl, log);
  const staging = overrides.staging ?? new StagingLedger({ database, vital, storage, owner: processName, log });
  const directory = overrides.directory ?? new Directory({ database, admin: config.admin });
  const attempts = new Attempts();
  const watch = overrides.watch ?? new DatabaseWatch(vital);
  const ledger = new IdempotencyLedger({ database, vital, watch, log });
  const locks = overrides.locks ?? new Locks(databaseUrl, log);
  const notifications = overrides.notifications ?? new Notifications(databaseUrl, log);
  const pulse = overrides.pulse ?? new Pulse();
  const streams =
    overrides.streams ?? new UpdateStreams({ feed: new ChangeFeed({ database, notifications, pulse, log }), database });
  return {
    config,
    role,
    databaseUrl,
    pools: { usual: pool, vital: vitalPool },
    watch,
    processName,
    log,
    database,
    vital,
    storage,
    queue,
    staging,
    catalogs,
    definitions,
    directory,
    authenticator: overrides.authenticator ?? new Authenticator(directory, undefined, attempts),
    digestVerifier:
      overrides.digestVerifier ??
      new DigestVerifier({ directory, nonces: new Nonces(nonceKeyOf(database)), attempts, publicUrl }),
    tokens: overrides.tokens ?? tokenVerifier(config, keys, directory),
    sessions: overrides.sessions ?? new Sessions(new SessionStore({ database, directory }), publicUrl),
    idempotency: overrides.idempotency ?? new Idempotency(ledger),
    locks,
    notifications,
    gate: overrides.gate ?? new UploadGate(config.maxParallelUploads),
    digests: overrides.digests ?? new Digests(),
    streams,
    lifetimeMs: overrides.lifetimeMs ?? config.uploadExpiryMs,
    addresses: overrides.addresses ?? {
      publicUrl,
      signer: config.urlSigning && new UrlSigner(config.urlSigning),
    },
    pulse,
    serviceMetrics: overrides.serviceMetrics ?? new ServiceMetrics({ database, vital, queue, log }),
    studio,
    health: overrides.health ?? {
      database: async () => void (await sql`SELECT 1`.execute(vital)),
      queue: () => queue.check(),
      storage: () => storage.check(),
      worker: async () => {
        const stuck = pulse.stuck(STUCK_MS);
        if (stuck.length > 0) throw new Error(`These loops hang: ${stuck.join(', ')}.`);
      },
    },
    close: async () => {
      watch.close();
      await streams.close();
      ledger.close();
      staging.close();
      await locks.close();
      await notifications.close();
      await queue.close();
      await storage.close();
      await Promise.all([pool.end(), vitalPool.end()]);
    },
  };
}

function openStudio({ studioDir }: Config, role: string): Promise<WebAppFolder> | undefined {
  return studioDir && role !== 'worker' ? WebAppFolder.open(studioDir, 'STUDIO_DIR') : undefined;
}

function tokenVerifier(
  { jwt }: Config,
  keys: Awaited<ReturnType<typeof openKeySet>> | undefined,
  directory: Directory,
): TokenVerifier | undefined {
  if (!jwt || !keys) return undefined;
  return new TokenVerifier({ ...jwt, keys, heldBy: (username) => directory.heldBy(username) });
}
