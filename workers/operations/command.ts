import { randomUUID } from 'node:crypto';
import { open as openFile, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { NewTrack } from '#catalogue/events/tracks.ts';
import { writeEvents } from '#catalogue/events/write-events.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { detectTrackType, HEAD_BYTES } from '#platform/media/signature.ts';
import { type CommandSettings, commandMaker, commandSettings, resultFlavor } from '#processing/command-settings.ts';
import { ProgramFailure, runOnTrack } from './command-run.ts';
import { type SourceTrack, sourceTracks } from './elements.ts';
import type { Operation, OperationContext } from './operation.ts';
import { locateProgram, matchesFlavor } from './site-program.ts';

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
    const { configuration, eventId, database, site } = context;
    const settings = commandSettings(configuration);
    const path = await locateProgram(site.commandsDir, settings.program);
    const maker = commandMaker(settings);
    const sources = (await sourceTracks(database, eventId)).filter((track) => isSource(track, settings, maker));
    // Before hours of work that could not be kept.
    const flavors = sources.map((track) => flavorOf(settings, track));
    const made: NewTrack[] = [];
    for (const [index, track] of sources.entries()) {
      const flavor = flavors[index] ?? '';
      for (const file of await runOnTrack(context, settings, { path, track })) {
        made.push(await keep(context, file, { flavor, tags: settings.tags }));
      }
      context.progress((index + 1) / sources.length);
    }
    return (trx) => replaceTracks(trx, { eventId, maker, made });
  },
};

/** What others made is worked on where a flavor asks for it; one's own results are never, or they would multiply. */
function isSource(track: SourceTrack, { tracks }: CommandSettings, maker: string): boolean {
  if (tracks === undefined) return track.made_by === null;
  return track.made_by !== maker && matchesFlavor(track.flavor, tracks);
}

function flavorOf(settings: CommandSettings, track: SourceTrack): string {
  const flavor = resultFlavor(settings, track.flavor);
  if (flavor !== undefined) return flavor;
  const wanted = JSON.stringify(settings.flavor);
  throw new ProgramFailure(`The output_flavor ${wanted} is none; allowed is type/subtype.`);
}

async function keep(
  { store }: OperationContext,
  path: string,
  { flavor, tags }: { flavor: string; tags: readonly string[] },
): Promise<NewTrack> {
  if ((await stat(path)).size === 0) {
    throw new ProgramFailure('A program of the site has made an empty file.');
  }
  const mediatype = await typeOf(path);
  const stored = await store(path, mediatype);
  await rm(path);
  return { id: randomUUID(), flavor, tags, filename: basename(path), mediatype, ...stored };
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

async function replaceTracks(
  trx: Transaction,
  { eventId, maker, made }: { eventId: string; maker: string; made: readonly NewTrack[] },
): Promise<void> {
  // Clients that add a track meanwhile wait, and count their position after these.
  await trx.selectFrom('events').select('id').where('id', '=', eventId).forUpdate().execute();
  const before = await trx
    .selectFrom('tracks')
    .select(['id', 'object_key as objectKey'])
    .where('event_id', '=', eventId)
    .where('made_by', '=', maker)
    .execute();
  if (before.length + made.length === 0) return;
  await writeEvents(trx, {
    ids: [eventId],
    actor: undefined,
    rows: { kind: 'changed', columns: {}, parts: ['tracks'] },
    removedTracks: before,
    tracks: made,
    madeBy: maker,
  });
}
