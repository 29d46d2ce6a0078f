import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import { Directory } from '#access/accounts/directory.ts';
import { Idempotency } from '#access/idempotency/idempotency.ts';
import { IdempotencyLedger } from '#access/idempotency/idempotency-ledger.ts';
import { type LaunchSettings, launchServices, openLaunchSettings } from '#access/launches/launches.ts';
import { SessionStore, Sessions } from '#access/sessions/sessions.ts';
import { Authenticator } from '#access/sign-in/authenticator.ts';
import { DigestVerifier, Nonces, nonceKeyReader } from '#access/sign-in/digest/digest-verifier.ts';
import { SignInAttempts } from '#access/sign-in/sign-in-throttle.ts';
import { openKeySet, TokenVerifier } from '#access/sign-in/tokens.ts';
import { ChangeFeed } from '#changes/change-feed.ts';
import { UploadDigests } from '#ingest/tus/digests.ts';
import { UploadLimiter } from '#ingest/upload-limiter.ts';
import type { HealthChecks } from '#maintenance/health.endpoints.ts';
import { loadCatalogs } from '#metadata/catalogs.ts';
import { UpdateStreams } from '#notifications/stream/update-streams.ts';
import { type Config, describeConfig } from '#platform/config/config.ts';
import { HEARTBEAT_LIMITS } from '#platform/database/client.ts';
import { DatabaseWatch } from '#platform/database/database-watch.ts';
import { createDatabase, type Database } from '#platform/database/kysely.ts';
import { Locks } from '#platform/database/locks.ts';
import { Notifications } from '#platform/database/notifications.ts';
import { createPool, withConnectRetry } from '#platform/database/pool.ts';
import { openWebAppFolder } from '#platform/http/answer/web-app-folder.ts';
import { createQueue } from '#platform/queue/create-queue.ts';
import type { WorkQueue } from '#platform/queue/work-queue.ts';
import { ConfigError } from '#platform/setting/value-kinds.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { StagingLedger } from '#platform/storage/staging.ts';
import { createLogger, type Logger } from '#platform/telemetry/log.ts';
import { LoopMonitor } from '#platform/telemetry/pulse.ts';
import { loadDefinitions } from '#processing/load-definitions.ts';
import { generatedSecret } from '#publications/signing/signing-secret.ts';
import { UrlSigner } from '#publications/signing/url-signer.ts';
import { ServiceMetrics } from '#statistics/metrics/service-metrics.ts';

/** Requests wait this long for a restarting database, because agents do not retry a failed upload. */
const RESTART_MS = 15_000;
/** For the renewals of a process and two checks at a time. */
const VITAL_CONNECTIONS = 3;
/** Longest run of a loop before it counts as stuck. */
const STUCK_MS = 5 * 60_000;

/** Replacements by tests. */
interface Overrides {
  log?: Logger;
  database?: Database;
  storage?: ObjectStorage;
  queue?: WorkQueue;
  notifications?: Notifications;
  watch?: Pick<DatabaseWatch, 'seen' | 'close'>;
  streams?: UpdateStreams;
}

/** The configuration, identity and services of a process. */
export type Context = Awaited<ReturnType<typeof createContext>>;

/** Builds the services that all roles share. @throws {ConfigError} for missing or invalid configuration */
export async function createContext(config: Config, role: 'api' | 'worker' | 'all', overrides: Overrides = {}) {
  const { databaseUrl } = config;
  if (!databaseUrl)
    throw new ConfigError('DATABASE_URL is not set; start Inlet with npm start, which starts a database.');
  const processName = `${role}-${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const log = overrides.log ?? createLogger(config.log);
  log.debug({ config: describeConfig(config) }, 'configuration');
  const catalogs = await loadCatalogs(config.metadataDir);
  const definitions = await loadDefinitions(config.workflowsDir, {
    unavailable: config.operations.transcription ? [] : ['transcribe'],
  });
  const { studioDir, editorDir, jwt, ltiKeys }: Partial<Config> = role === 'worker' ? {} : config;
  const studio = studioDir ? await openWebAppFolder(studioDir, 'STUDIO_DIR') : undefined;
  const editor = editorDir ? await openWebAppFolder(editorDir, 'EDITOR_DIR') : undefined;
  const keys = jwt && (await openKeySet(jwt.keySet));
  const launchSettings = ltiKeys ? await openLaunchSettings(ltiKeys, config.dataDir) : undefined;
  const addresses = await publicationAddresses(config, role);
  const storage = overrides.storage ?? (await config.storage.open(config.uploadMemoryBytes));
  // Nothing below fails: a failed start must not leave connections open.
  const pools = openPools(databaseUrl, config, role, log);
  const database =
    overrides.database ?? createDatabase(role === 'worker' ? pools.usual : withConnectRetry(pools.usual, RESTART_MS));
  const vital = overrides.database ?? createDatabase(pools.vital);
  const queue = overrides.queue ?? createQueue(config, databaseUrl, log);
  const staging = new StagingLedger({ database, vital, storage, owner: processName, log });
  const signIn = signInServices(database, config, launchSettings);
  const heldBy = (username: string) => signIn.directory.heldBy(username);
  const watch = overrides.watch ?? new DatabaseWatch(vital);
  const ledger = new IdempotencyLedger({ database, vital, watch, log });
  const locks = new Locks(databaseUrl, log);
  const notifications = overrides.notifications ?? new Notifications(databaseUrl, log);
  const pulse = new LoopMonitor();
  const streams =
    overrides.streams ?? new UpdateStreams({ feed: new ChangeFeed({ database, notifications, pulse, log }), database });
  return {
    config,
    role,
    databaseUrl,
    pools,
    /** Unique to this process, also after a restart. */
    processName,
    log,
    database,
    /** The same database over reserved connections, for heartbeats, leases and checks. Keep statements short here. */
    vital,
    /** Reports since when the database has been reachable, to judge the silence of others. */
    watch,
    storage,
    queue,
    staging,
    catalogs,
    definitions,
    ...signIn,
    /** Checks tokens; absent without an identity provider. */
    tokens: jwt && keys && new TokenVerifier({ ...jwt, keys, heldBy }),
    idempotency: new Idempotency(ledger),
    /** Write locks across all processes. */
    locks,
    notifications,
    gate: new UploadLimiter(config.maxParallelUploads),
    digests: new UploadDigests(),
    /** Clients that follow changes. */
    streams,
    /** Lifetime of a resumable upload without another byte, in milliseconds. */
    lifetimeMs: config.uploadExpiryMs,
    /** The base URL of publications, who may watch them, and the signer of their URLs. */
    addresses,
    /** Detects loops of this process that hang. */
    pulse,
    serviceMetrics: new ServiceMetrics({ database, vital, queue, log }),
    /** A recorder for browsers, if one is configured. */
    studio,
    /** A video editor, if one is configured. */
    editor,
    health: healthChecks(vital, queue, storage, pulse),
    close: async () => {
      watch.close();
      await streams.close();
      ledger.close();
      staging.close();
      for (const each of [locks, notifications, queue, storage]) await each.close();
      await Promise.all([pools.usual.end(), pools.vital.end()]);
    },
  };
}

/** Workers sign nothing. */
async function publicationAddresses({ publicUrl, watchAccess: access, urlSigning, dataDir }: Config, role: string) {
  const isGenerated = access === 'strict' && role !== 'worker';
  const secret = urlSigning.secret ?? (isGenerated ? await generatedSecret(dataDir) : undefined);
  return { publicUrl, access, signer: secret === undefined ? undefined : new UrlSigner({ ...urlSigning, secret }) };
}

function openPools(databaseUrl: string, { workerConcurrency }: Config, role: string, log: Logger) {
  const onError = (error: Error) => log.warn({ reason: error.message }, 'a database connection broke');
  return {
    usual: createPool(databaseUrl, { max: 10 + workerConcurrency * 2, applicationName: `inlet ${role}`, onError }),
    vital: createPool(databaseUrl, {
      max: VITAL_CONNECTIONS,
      min: VITAL_CONNECTIONS,
      limits: HEARTBEAT_LIMITS,
      applicationName: `inlet ${role} vital`,
      onError,
    }),
  };
}

function signInServices(database: Database, { admin, publicUrl }: Config, settings: LaunchSettings | undefined) {
  const directory = new Directory({ database, admin });
  const attempts = new SignInAttempts();
  const readKey = nonceKeyReader(database);
  const launches = settings && launchServices(settings, { database, directory, readKey });
  return {
    directory,
    /** Checks passwords. */
    authenticator: new Authenticator(directory, undefined, attempts),
    /** Checks Digest credentials of machines. */
    digestVerifier: new DigestVerifier({
      directory,
      nonces: new Nonces(readKey),
      attempts,
      publicUrl,
    }),
    /** Checks session cookies of browsers. */
    sessions: new Sessions(new SessionStore({ database, directory, launched: launches?.accounts }), publicUrl),
    /** Launches by learning platforms, if any is configured. */
    launches,
  };
}

function healthChecks(vital: Database, queue: WorkQueue, storage: ObjectStorage, pulse: LoopMonitor): HealthChecks {
  return {
    database: async () => void (await sql`SELECT 1`.execute(vital)),
    queue: () => queue.check(),
    storage: () => storage.check(),
    worker: async () => {
      const stuck = pulse.stuck(STUCK_MS);
      if (stuck.length > 0) throw new Error(`These loops hang: ${stuck.join(', ')}.`);
    },
  };
}
