import { systemOf } from '#maintenance/backup/backup.ts';
import { ReceivingInlet } from '#maintenance/export/receiving-inlet.ts';
import { type SendParts, sendCatalogue } from '#maintenance/export/send-catalogue.ts';
import { SourceRequests } from '#maintenance/import/source-requests.ts';
import { loadCatalogs } from '#metadata/catalogs.ts';
import { formatBytes } from '#platform/text/units.ts';
import type { Terminal } from '../command.ts';
import { showProgress } from '../terminal/progress.ts';
import type { Connections } from './connections.ts';

/** The other Inlet copies received files once more before it answers. */
const ANSWER_MS = 600_000;

/** Another Inlet, and what is sent there. */
export interface ReceivingTarget {
  base: URL;
  username: string;
  password: string;
  /** True to send groups. */
  groups: boolean;
  /** True to overwrite what was changed there. */
  theirs: boolean;
}

/** Sends the catalogue to another Inlet. @returns the exit code */
export async function exportToInlet(
  { base, groups, theirs, ...account }: ReceivingTarget,
  { choice, concurrency }: Pick<SendParts, 'choice' | 'concurrency'>,
  { config, database, storage, connect }: Connections,
  { signal, print, screen }: Terminal,
): Promise<number> {
  const client = await connect();
  const system = await systemOf(client);
  const limits = { concurrency, requestsPerSecond: 200, idleMs: ANSWER_MS, retryMs: 500 };
  const requests = new SourceRequests(limits, signal, (outage) => {
    if (outage) screen.write(`Waiting for the other Inlet: ${outage.reason}.\n`);
  });
  let bytes = 0;
  const onBytes = (sent: number) => {
    bytes += sent;
  };
  const address = base.href.replace(/\/$/, '');
  const inlet = new ReceivingInlet({ ...account, base: address, system, theirs, requests, storage, signal, onBytes });
  await inlet.open();
  const progress = showProgress('export', screen);
  const { counts, incomplete } = await sendCatalogue(inlet, {
    ...{ database, client, choice, groups, concurrency, signal, publicUrl: config.publicUrl },
    catalogs: await loadCatalogs(config.metadataDir),
    onItem: ({ fraction, items }) => progress.update(fraction, `${items} items, ${formatBytes(bytes)} of files sent`),
  }).finally(progress.stop);
  for (const { kind, id, state, reason, notes } of incomplete)
    print(`${kind} ${id}: ${[state === 'copied' ? '' : `${state}.`, reason, ...notes].filter(Boolean).join(' ')}`);
  for (const [kind, { copied, failed, skipped, pending }] of Object.entries(counts))
    print(`${kind}: ${copied} copied, ${failed} failed, ${skipped} skipped, ${pending} pending`);
  print(`${formatBytes(bytes)} of files were sent.`);
  return Object.values(counts).every(({ failed, pending }) => failed + pending === 0) ? 0 : 1;
}
