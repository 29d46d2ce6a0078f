import { join } from 'node:path';
import { ownedTotals } from '#maintenance/owned-objects.ts';
import { repair } from '#maintenance/repair/repair.ts';
import { inWords } from '#maintenance/verify/finding.ts';
import { lockNotes, Notes } from '#maintenance/verify/notes.ts';
import { verify } from '#maintenance/verify/verify.ts';
import { formatBytes } from '#platform/text/units.ts';
import { CommandError } from '../failure.ts';
import { showProgress } from '../terminal/progress.ts';
import { backupIn } from './backup-folder.ts';
import { type Command, noMore, splitArguments, wrongArguments } from './command.ts';
import { type Connections, withConnections } from './connections.ts';

const USAGE = `npm run inlet -- verify [--digests] [--repair [--from DIR]] [--resume]

Compares the database with the object storage, while both are in use, and prints a line for each thing that is wrong:
missing (a row names an object that is not there), orphaned (an object that nobody owns), size, digest (bytes that are not
those that were stored), staged (an object in use that would be removed). Exits with 0 only when nothing is wrong.

  --digests   reads every object and compares its SHA-256
  --repair    removes objects that nobody owns after seven days, and says what to do about everything else. Exits with 0 only
              when everything has been repaired.
  --from DIR  with --repair: takes objects that are missing or damaged from this backup
  --resume    goes on where a run was interrupted`;

const OPTIONS = {
  digests: { type: 'boolean' },
  repair: { type: 'boolean' },
  from: { type: 'string' },
  resume: { type: 'boolean' },
} as const;

/** `verify`: whether every object is as the database says, and nothing else is there. */
export const verifyCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print, screen }) {
    const { values, positionals } = splitArguments(args, OPTIONS, USAGE);
    noMore(positionals, USAGE);
    const { digests = false } = values;
    if (values.from !== undefined && !values.repair) throw wrongArguments('--from is for --repair alone.', USAGE);
    const backup = values.from === undefined ? undefined : (await backupIn(environment, values.from)).folder;
    return withConnections(environment, 'verify', async (connections) => {
      const { config, storage, client } = connections;
      const [rows, look] = [await client(), await client()];
      if (!(await lockNotes(look))) throw new CommandError('Another verification is under way.');
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
              if (!values.repair) print(inWords(finding));
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
        const wrong = found === 0 ? 'nothing is wrong' : `${found} found to be wrong`;
        screen.write(`${objects} objects compared${digests ? `, ${formatBytes(bytes)} read` : ''}: ${wrong}.\n`);
      } catch (error) {
        progress.stop();
        if (!signal.aborted) throw error;
        screen.write('Interrupted; --resume goes on where this run was.\n');
        return 130;
      }
      const left = values.repair ? await repairFindings(connections, notes, backup, print) : await count(notes);
      await notes.end();
      return left === 0 ? 0 : 1;
    });
  },
};

/** @returns the number of findings that are left */
async function repairFindings(
  { database, storage, client }: Connections,
  notes: Notes,
  backup: string | undefined,
  print: (line: string) => void,
): Promise<number> {
  let left = 0;
  for await (const result of repair(notes.findings(), { database, look: await client(), storage, backup })) {
    const { finding, state, note } = result;
    if (state === 'left') left += 1;
    print(`${inWords(finding)}\n  ${state}: ${note}`);
  }
  return left;
}

async function count(notes: Notes): Promise<number> {
  let findings = 0;
  for await (const _ of notes.findings()) findings += 1;
  return findings;
}
