import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open as openFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { recordChanges } from '../../src/changes/record.ts';
import type { Transaction } from '../../src/database/kysely.ts';
import { insertTracks, type NewTrack } from '../../src/events/tracks.ts';
import { countVersion } from '../../src/events/update/lock-event.ts';
import { watched } from '../../src/media/output-watch.ts';
import { type Ending, runTool } from '../../src/media/process.ts';
import { detectTrackType, HEAD_BYTES } from '../../src/media/signature.ts';
import { releaseObjects } from '../../src/storage/staging-entries.ts';
import type { Operation, OperationContext } from '../operation.ts';
import { argumentsOf, locateProgram, matchesFlavor } from '../site-program.ts';
import { type SourceTrack, sourceTracks } from './elements.ts';

/** The operation's own limit ends it before. */
const NO_LIMIT_MS = 7 * 86_400_000;
/** What a program says beside its results is of no use beyond this. */
const SAID_BYTES = 2 ** 20;
const MOST_FILES = 20;
/** BSD's sysexits: a fault that may pass. */
const EX_TEMPFAIL = 75;
const FLAVOR = /^[^/\s]+\/[^/\s]+$/;

/**
 * Runs a site's own program on tracks: `program`, a file of COMMANDS_DIR, with `arguments`, on those of the flavor
 * `tracks`. The files that it leaves in its output folder become tracks of the event, of the flavor `output_flavor` and
 * with `output_tags`; they take the place of those that it made before. There is no shell, and the program gets to see
 * nothing of the environment but what is about the track.
 */
export const command: Operation = {
  name: 'command',
  lane: 'heavy',
  async run(context) {
    const { configuration, eventId, database, commandsDir } = context;
    const {
      program: name = '',
      tracks: pattern = '*/*',
      output_flavor: flavor = '*/processed',
    } = configuration;
    const program = await locateProgram(commandsDir, name);
    const tags = (configuration.output_tags ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean);
    const maker = ['command', name, flavor, ...tags].join(' ');
    const sources = (await sourceTracks(database, eventId)).filter((track) =>
      matchesFlavor(track.flavor, pattern),
    );
    const made: NewTrack[] = [];
    for (const [done, track] of sources.entries()) {
      for (const path of await runOn(context, { program, name, track })) {
        made.push(await keep(context, path, { flavor: flavorOf(flavor, track), tags }));
      }
      context.progress((done + 1) / sources.length);
    }
    return (trx) => replaceTracks(trx, { eventId, maker, made });
  },
};

/** @returns the files that it has made */
async function runOn(
  { configuration, eventId, folder, signal, log, open }: OperationContext,
  { program, name, track }: { program: string; name: string; track: SourceTrack },
): Promise<string[]> {
  const input = await open(track.object_key);
  const output = join(folder, `output-${track.position}`);
  await mkdir(output);
  const places = { input, output, flavor: track.flavor, event: eventId };
  const args = argumentsOf(configuration.arguments ?? '{input} {output}', places);
  const env = {
    ...{ PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', HOME: folder, TMPDIR: folder },
    ...{
      INLET_INPUT: input,
      INLET_OUTPUT: output,
      INLET_EVENT_ID: eventId,
      INLET_TRACK_FLAVOR: track.flavor,
    },
  };
  await watched({ path: output, maxBytes: Number.POSITIVE_INFINITY }, signal, async (until) => {
    const limits = { signal: until, timeLimitMs: NO_LIMIT_MS, maxOutputBytes: SAID_BYTES };
    const explain = (said: string, ending: Ending) => failureOf(name, said, ending);
    await runTool(program, args, { ...limits, cwd: folder, env, explain });
  });
  const entries = await readdir(output, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(output, entry.name));
  log.info({ program: name, track: track.id, files: files.length }, 'a program of the site has run');
  if (files.length > MOST_FILES) {
    throw permanent(`The program "${name}" has made ${files.length} files; allowed are ${MOST_FILES}.`);
  }
  return files.sort();
}

function failureOf(name: string, said: string, { code, killedBy }: Ending): Error {
  const how = killedBy ? `was ended by ${killedBy}` : `ended with exit code ${code}`;
  return Object.assign(new Error(`The program "${name}" ${how}.`), {
    log: said,
    permanent: code !== EX_TEMPFAIL,
  });
}

function permanent(sentence: string): Error {
  return Object.assign(new Error(sentence), { permanent: true });
}

async function keep(
  { store, signal }: OperationContext,
  path: string,
  { flavor, tags }: { flavor: string; tags: readonly string[] },
): Promise<NewTrack> {
  const mediatype = await typeOf(path);
  const { size } = await stat(path);
  if (size === 0) throw permanent('A program of the site has made an empty file.');
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { signal });
  const { objectKey } = await store(path, mediatype);
  const filename = path.slice(path.lastIndexOf('/') + 1);
  await rm(path);
  const sha256 = hash.digest('hex');
  return { id: randomUUID(), flavor, tags, filename, mediatype, objectKey, size, sha256 };
}

async function typeOf(path: string): Promise<string> {
  const file = await openFile(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return detectTrackType(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** An asterisk is the type of the track that it was made of. */
function flavorOf(wanted: string, { flavor }: SourceTrack): string {
  const made = wanted.replace(/^\*/, flavor.split('/', 1)[0] ?? flavor);
  if (FLAVOR.test(made)) return made;
  throw permanent(`The output_flavor ${JSON.stringify(wanted)} is none; allowed is type/subtype.`);
}

async function replaceTracks(
  trx: Transaction,
  { eventId, maker, made }: { eventId: string; maker: string; made: readonly NewTrack[] },
): Promise<void> {
  const before = await trx
    .deleteFrom('tracks')
    .where('event_id', '=', eventId)
    .where('made_by', '=', maker)
    .returning('object_key')
    .execute();
  await releaseObjects(
    trx,
    before.map(({ object_key }) => object_key),
  );
  await insertTracks(trx, eventId, made, maker);
  if (before.length + made.length === 0) return;
  await countVersion(trx, [eventId]);
  await recordChanges(trx, [
    { kind: 'event.changed', eventId, data: { parts: ['tracks'], made: made.length } },
  ]);
}
