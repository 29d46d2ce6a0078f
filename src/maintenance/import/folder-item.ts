import { z } from 'zod';
import { tryParseJson } from '#platform/text/json.ts';
import { SourceError } from './catalogue-source.ts';
import { FILE_NAME, itemFolder } from './folder-format.ts';
import { SourceEvent, SourceGroup, SourcePlaylist, SourceSeries, SourceTrack } from './source.schemas.ts';

const ExportedEvent = SourceEvent.extend({ tracks: z.array(SourceTrack).default([]) });
export type ExportedEvent = z.infer<typeof ExportedEvent>;
/** The JSON of an exported event. */
export const FolderEvent = ExportedEvent.transform(located);

/** The JSON of an item of each kind. */
export const ITEM_SCHEMAS = {
  series: SourceSeries,
  events: FolderEvent,
  playlists: SourcePlaylist,
  groups: SourceGroup,
} as const;

/** Parses the JSON of an item. @param item.path its name in errors @throws {SourceError} if it is not as an export writes it */
export function parseItem<T extends { identifier: string }>(
  text: string,
  { schema, id, path }: { schema: z.ZodType<T>; id: string; path: string },
): T {
  const json = tryParseJson(text);
  if (json === undefined) throw new SourceError(`${path} is not valid JSON.`);
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new SourceError(`${path} is not valid: \`${issue?.path.join('.') || 'it'}\`: ${issue?.message}.`);
  }
  if (parsed.data.identifier !== id)
    throw new SourceError(`${path} describes "${parsed.data.identifier}" instead of "${id}".`);
  return parsed.data;
}

/** Returns an event with the paths of its files within the folder. @throws {SourceError} for a name of no such file */
function located(event: ExportedEvent): ExportedEvent {
  const folder = itemFolder('events', event.identifier);
  return withFiles(event, (name) => {
    if (FILE_NAME.test(name)) return `${folder}/${name}`;
    throw new SourceError(`${folder} names the file "${name}", which is not the name of a file in it.`);
  });
}

/** Returns the paths of all files of an event. */
export function filePaths(event: ExportedEvent): string[] {
  const paths: string[] = [];
  withFiles(event, (path) => {
    paths.push(path);
    return path;
  });
  return paths;
}

/** Returns an event with other addresses of its files. */
function withFiles(event: ExportedEvent, at: (address: string) => string): ExportedEvent {
  const files = <File extends { url: string }>(list: readonly File[]) =>
    list.map((file) => ({ ...file, url: at(file.url) }));
  return {
    ...event,
    publications: event.publications.map((publication) => ({
      ...publication,
      media: files(publication.media),
      attachments: files(publication.attachments),
      metadata: files(publication.metadata),
    })),
    tracks: event.tracks.map((track) => ({ ...track, uri: at(track.uri) })),
    inlet: event.inlet && {
      ...event.inlet,
      attachments: files(event.inlet.attachments),
      prepared: files(event.inlet.prepared),
    },
  };
}
