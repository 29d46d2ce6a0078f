import { join } from 'node:path';
import { ownedTotals } from '#maintenance/owned-objects.ts';
import { repair } from '#maintenance/repair/repair.ts';
import { describeFinding } from '#maintenance/verify/finding.ts';
import { lockNotes, Notes } from '#maintenance/verify/notes.ts';
import { verify } from '#maintenance/verify/verify.ts';
import { formatBytes } from '#platform/text/units.ts';
import { type Command, parseArguments, UsageError } from '../command.ts';
import { CommandError } from '../failure.ts';
import { prepareDatabase } from '../prepare-database.ts';
import { showProgress } from '../terminal/progress.ts';
import { type Connections, openBackup, withConnections } from './connections.ts';

const USAGE = `npm run inlet -- verify [--digests] [--repair [--from DIR]] [--resume]

Compares the database with the object storage, while both are in use, and prints a line for each problem: missing (no object
for a row), orphaned (no row for an object), size, digest (changed bytes), staged (an object in use that would be removed).
Exits with 0 only if there are no problems.

  --digests   read every object and compare its SHA-256
  --repair    remove orphaned objects after seven days, and explain how to fix other problems. Exits with 0 only if everything
              was repaired.
  --from DIR  with --repair: restore missing and damaged objects from this backup
  --resume    continue an interrupted run`;

const OPTIONS = {
  digests: { type: 'boolean' },
  repair: { type: 'boolean' },
  from: { type: 'string' },
  resume: { type: 'boolean' },
} as const;

export const verifyCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print, screen }) {
    const { values } = parseArguments(args, OPTIONS, 0);
    const { digests = false } = values;
    if (values.from !== undefined && !values.repair) throw new UsageError('--from requires --repair.');
    const backup = values.from === undefined ? undefined : (await openBackup(environment, values.from)).folder;
    return withConnections(environment, 'verify', prepareDatabase, async (connections) => {
      const { config, storage, connect } = connections;
      const [rows, look] = [await connect(), await connect()];
      if (!(await lockNotes(look))) throw new CommandError('Another verification is running.');
      const notes = new Notes(join(config.dataDir, 'verify.jsonl'));
      const from = values.resume ? await notes.resume({ digests }) : undefined;
      if (!from) await notes.begin({ digests });
      const totals = await ownedTotals(look);
      const progress = showProgress('verify', screen);
      try {
        const { objects, bytes } = await verify(
          { rows, look, storage },
          {
            digests,
            notes,
            from,
            signal,
            onFinding: (finding) => {
              if (!values.repair) print(describeFinding(finding));
            },
            onProgress: ({ objects, bytes }) =>
              progress.update(
                Math.min(1, digests ? bytes / (totals.bytes || 1) : objects / (totals.objects || 1)),
                `${objects} objects${digests ? `, ${formatBytes(bytes)} read` : ''}`,
              ),
          },
        );
        progress.stop();
        const found = await count(notes);
        const wrong = found === 0 ? 'no problems' : `${found} problems`;
        screen.write(`${objects} objects compared${digests ? `, ${formatBytes(bytes)} read` : ''}: ${wrong}.\n`);
      } catch (error) {
        progress.stop();
        if (!signal.aborted) throw error;
        screen.write('Interrupted. Continue with --resume.\n');
        return 130;
      }
      const left = values.repair ? await repairFindings(connections, notes, backup, print) : await count(notes);
      await notes.end();
      return left === 0 ? 0 : 1;
    });
  },
};

/** @returns the number of remaining problems */
async function repairFindings(
  { database, storage, connect }: Connections,
  notes: Notes,
  backup: string | undefined,
  print: (line: string) => void,
): Promise<number> {
  let left = 0;
  for await (const result of repair(notes.findings(), { database, look: await connect(), storage, backup })) {
    const { finding, state, note } = result;
    if (state === 'left') left += 1;
    print(`${describeFinding(finding)}\n  ${state}: ${note}`);
  }
  return left;
}

async function count(notes: Notes): Promise<number> {
  let findings = 0;
  for await (const _ of notes.findings()) findings += 1;
  return findings;
}
