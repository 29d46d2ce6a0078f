import { type Context, Hono } from 'hono';
import type { Config } from '../../config.ts';
import type { Database } from '../../database/kysely.ts';
import { badRequest } from '../../http/errors.ts';
import { versionedJson } from '../../http/version.ts';
import type { RequestContent } from '../../idempotency/fingerprint.ts';
import type { Idempotency, RememberContent } from '../../idempotency/idempotency.ts';
import type { CatalogSet } from '../../metadata/catalogs.ts';
import { explainingConflicts } from '../../recordings/conflicts.ts';
import type { ObjectStorage } from '../../storage/port.ts';
import type { StagingLedger } from '../../storage/staging.ts';
import type { WorkflowDefinitions } from '../../workflows/definitions.ts';
import { accept } from '../accept.ts';
import type { Intake } from '../intake.ts';
import { digestForm, type FormDigest, type FormOptions, receiveForm } from '../receive-form.ts';
import { answerFailure } from './answer-failure.ts';
import { FLAVORS, tracksOf } from './event-form.ts';
import { parseNewEvents } from './new-events.ts';

export interface CreateDependencies {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs' | 'scheduling'>;
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  idempotency: Idempotency;
  definitions: WorkflowDefinitions;
  catalogs: CatalogSet;
}

const FORM: FormOptions = { wanted: Object.keys(FLAVORS) };

/** `POST /api/events`: a recording comes in, or is scheduled. */
export function eventCreationRoutes(deps: CreateDependencies): Hono {
  return new Hono({ strict: false }).post('/api/events', (c) =>
    deps.idempotency
      .carryOut(c, {
        compare: async () => contentOf(await digestForm(c.req.raw, FORM, deps.config)),
        create: (remember) => create(c, deps, remember),
      })
      .catch((error) => answerFailure(c, error)),
  );
}

async function create(c: Context, deps: CreateDependencies, remember: RememberContent): Promise<Response> {
  const { principal, requestId, version, log } = c.var;
  const { config, database, catalogs } = deps;
  const { maxOccurrences, minGapMs: gapMs } = config.scheduling;
  const started = performance.now();
  const answer = (ids: readonly string[]) => answerCreated(c, ids, config.publicUrl);
  return receiveForm(c.req.raw, FORM, deps, async ({ fields, files }) => {
    const tracks = tracksOf(files);
    const events = await parseNewEvents(fields, { catalogs, version, database, maxOccurrences });
    if (events.recordings?.recurring && tracks.length > 0) throw severalEvents();
    const intake: Intake = { principal, requestId, target: { kind: 'new', events, gapMs }, tracks };
    const { ids } = await explainingConflicts(database, principal, async (trx) => {
      const accepted = await accept(trx, intake, deps);
      await remember(trx, contentOf({ fields, files }), answer(accepted.ids));
      return accepted;
    });
    const bytes = tracks.reduce((sum, { size }) => sum + size, 0);
    const ms = Math.round(performance.now() - started);
    log.info({ eventId: ids[0], events: ids.length, tracks: tracks.length, bytes, ms }, 'event created');
    return answer(ids);
  });
}

/** What tells one request for new events from another. */
function contentOf({ fields, files }: FormDigest): RequestContent {
  return {
    fields,
    files: files.map(({ field, filename, size, sha256 }) => ({
      name: FLAVORS[field] ?? field,
      filename,
      size,
      sha256,
    })),
  };
}

/** 201 for one event, 200 for several. */
function answerCreated(c: Context, ids: readonly string[], publicUrl: string): Response {
  const [id, ...more] = ids;
  if (id === undefined || more.length > 0) {
    return versionedJson(
      c,
      ids.map((identifier) => ({ identifier })),
    );
  }
  const Location = `${publicUrl}/api/events/${encodeURIComponent(id)}`;
  return versionedJson(c, { identifier: id }, 201, { Location });
}

function severalEvents() {
  return badRequest(
    "Recordings cannot be sent along with an 'rrule': nothing says which of its events they belong to. Send each to its event.",
  );
}
