import { randomUUID } from 'node:crypto';
import type { DraftContents } from '#ingest/draft-contents.ts';
import type { ReceivedFile, StagedFiles } from '#ingest/staged-files.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { safeFilename } from '#platform/http/form/filename.ts';
import { CUTTING } from '#platform/media/cutting.ts';
import { isPolicy, isReadable } from './catalogs.ts';
import { FILE_MISSING, type ManifestElement, NO_MANIFEST, readManifest } from './manifest.ts';
import { baseName, storeSmall, type Unpacked } from './zip-entries.ts';

const MANIFEST = 'manifest.xml';
/** Of an access control list that is too long: it cannot be read, and is not passed over. */
const UNREAD = Buffer.alloc(0);

/** What an archive holds, as a media package. */
export interface ZippedPackage {
  /** As the manifest says; empty when it does not. */
  id: string;
  contents: DraftContents;
  /**
   * Files that the manifest names and that are not part of the package: empty ones and, beside the tracks, what is not there,
   * cannot be read, or is no part of one.
   */
  leftOut: string[];
  /** Those of them that were to be tracks. */
  emptyTracks: string[];
  /** Those of them that were to say what is cut off: all of it is kept. */
  uncut: string[];
}

/**
 * Makes a media package of an archive by its manifest. Files that it does not name are left out. A file beside the tracks
 * that it names costs no recording, if it is missing, as some agents name what they have not packed, or cannot be read; nor
 * does an input that has recorded nothing. Only an access control list has to be readable where a new event gets it: without
 * it, more people might see the event than are meant to; one that is too long cannot be read.
 *
 * @throws {HttpError} 400 for a manifest that is missing, cannot be read, or names a track that is not there
 */
export async function packageIn(
  unpacked: Unpacked,
  staged: StagedFiles,
  catalogs: CatalogSet,
): Promise<ZippedPackage> {
  const name = [...unpacked.small.keys()].find((each) => baseName(each) === MANIFEST);
  const manifest = name === undefined ? undefined : unpacked.small.get(name);
  if (!manifest) throw NO_MANIFEST(`there is no ${MANIFEST}`);
  const { id, elements, nameless } = readManifest(textOf(manifest));
  const contents: DraftContents = { tracks: [], attachments: [], catalogs: [] };
  const taken = new Set<string>();
  const leftOut: ManifestElement[] = [];
  for (const element of elements) {
    const path = pathOf(element.file, unpacked);
    if (path === undefined || taken.has(path)) {
      if (element.kind === 'track') throw FILE_MISSING(element.file);
      leftOut.push(element);
      continue;
    }
    taken.add(path);
    const small = unpacked.small.get(path);
    const stored = unpacked.stored.get(path);
    if (small ? !isUsable(element, small, catalogs) : element.flavor === CUTTING) leftOut.push(element);
    else if (isPolicy(element.flavor)) contents.catalogs.push(catalogOf(element, path, small ?? UNREAD));
    else if (small && isText(element)) contents.catalogs.push(catalogOf(element, path, small));
    else addFile(contents, element, stored ?? (await storeSmall(path, small as Buffer, staged)));
  }
  const filesOf = (list: readonly ManifestElement[]) => list.map(({ file }) => file);
  return {
    id,
    contents,
    leftOut: [...nameless, ...filesOf(leftOut)],
    emptyTracks: filesOf(leftOut.filter(({ kind }) => kind === 'track')),
    uncut: filesOf(leftOut.filter(({ flavor }) => flavor === CUTTING)),
  };
}

function isUsable(element: ManifestElement, content: Buffer, catalogs: CatalogSet): boolean {
  const { flavor } = element;
  if (isPolicy(flavor)) return true;
  return content.length > 0 && (!isText(element) || isReadable(flavor, textOf(content), catalogs));
}

function isText({ kind, flavor }: ManifestElement): boolean {
  return kind === 'catalog' || isPolicy(flavor);
}

function catalogOf({ flavor }: ManifestElement, path: string, content: Buffer) {
  return {
    id: randomUUID(),
    flavor,
    filename: safeFilename(path, 'file'),
    content: textOf(content),
  };
}

function textOf(content: Buffer): string {
  return new TextDecoder().decode(content);
}

function addFile(
  { tracks, attachments }: DraftContents,
  { kind, flavor, tags }: ManifestElement,
  { field: _, ...file }: ReceivedFile,
): void {
  const list = kind === 'track' ? tracks : attachments;
  list.push({ ...file, id: randomUUID(), flavor, tags });
}

/** Manifests name files as they were called where the archive was made: by a path, an address, or a bare name. */
function pathOf(file: string, { small, stored }: Unpacked): string | undefined {
  const paths = [...small.keys(), ...stored.keys()];
  const wanted = baseName(decoded(file));
  return (
    paths.find((path) => path === file) ??
    paths.find((path) => baseName(path) === wanted) ??
    paths.find((path) => baseName(path) === baseName(file))
  );
}

function decoded(file: string): string {
  try {
    return decodeURIComponent(file);
  } catch {
    return file;
  }
}
