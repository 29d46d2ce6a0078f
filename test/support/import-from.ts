import { onTestFinished } from 'vitest';
import type { CatalogueSource } from '#maintenance/import/catalogue-source.ts';
import { openSource } from '#maintenance/import/import-items.queries.ts';
import { isComplete, readReport, reportLines } from '#maintenance/import/import-report.ts';
import { runImport } from '#maintenance/import/run-import.ts';
import { openServer } from '#maintenance/import/server-source.ts';
import { type ReferenceOptions, ReferenceServer } from './reference-server.ts';
import type { Upkeep } from './upkeep.ts';

/** Starts a server that behaves as the reference server does, for the test alone. */
export async function reference(options: ReferenceOptions = {}): Promise<ReferenceServer> {
  const server = await ReferenceServer.start(options);
  onTestFinished(() => server.close());
  return server;
}

export interface ImportOptions {
  theirs?: boolean;
  groups?: boolean;
  more?: Partial<CatalogueSource>;
}

/** Imports without the pauses and limits of the command. @returns the lines of its report, and whether it is complete */
export async function importFrom(
  up: Upkeep,
  server: ReferenceServer,
  { theirs = false, groups = false, more = {} }: ImportOptions = {},
) {
  const { config, catalogs, staging } = up.app.context;
  const { database, storage } = up.app;
  const { signal } = new AbortController();
  const limits = { requestsPerSecond: 200, retryMs: 1 };
  const source = await openServer(server.url, { username: 'import', password: 'secret', ...limits, signal });
  Object.assign(source, more);
  const sourceId = await openSource(database, source.name);
  const warnings: string[] = [];
  const onWarning = (warning: string) => void warnings.push(warning);
  const services = { source, sourceId, database, storage, staging, catalogs, theirs, signal, retryMs: 1, onWarning };
  await runImport({ parallel: 4, follow: false, groups }, { ...services, gapMs: config.scheduling.minGapMs });
  const report = await readReport(database, { id: sourceId, name: source.name }, 0);
  return { isComplete: isComplete(report), lines: reportLines(report), warnings };
}

/** Requests JSON as the administrator. */
export const json = async <T = Record<string, unknown>>(up: Upkeep, path: string) =>
  (await (await up.app.request(path)).json()) as T;
