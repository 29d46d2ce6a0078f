import { randomUUID } from 'node:crypto';
import { safeFilename } from '../../http/form/filename.ts';
import type { DraftContents } from '../draft-contents.ts';
import type { ReceivedFile, StagedFiles } from '../staged-files.ts';
import { isPolicy } from './catalogs.ts';
import { FILE_MISSING, type ManifestElement, NO_MANIFEST, readManifest } from './manifest.ts';
import { baseName, storeSmall, type Unpacked } from './zip-entries.ts';

const MANIFEST = 'manifest.xml';

/** What an archive holds, as a media package. */
export interface ZippedPackage {
  /** As the manifest says; empty when it does not. */
  id: string;
  contents: DraftContents;
  /** Files beside the tracks that the manifest names and that are not part of the package: not there, or no part of one. */
  leftOut: string[];
}

/**
 * Makes a media package of an archive by its manifest. Files that it does not name are left out. A file beside the tracks
 * that it names and that is missing costs no recording: some agents name what they have not packed.
 *
 * @throws {HttpError} 400 for a manifest that is missing, cannot be read, or names a track that is not there
 */
export async function packageIn(unpacked: Unpacked, staged: StagedFiles): Promise<ZippedPackage> {
  const name = [...unpacked.small.keys()].find((each) => baseName(each) === MANIFEST);
  const manifest = name === undefined ? undefined : unpacked.small.get(name);
  if (!manifest) throw NO_MANIFEST(`there is no ${MANIFEST}`);
  const { id, elements, nameless } = readManifest(new TextDecoder().decode(manifest));
  const contents: DraftContents = { tracks: [], attachments: [], catalogs: [] };
  const taken = new Set<string>();
  const leftOut = [...nameless];
  for (const element of elements) {
    const path = pathOf(element.file, unpacked);
    if (path === undefined || taken.has(path)) {
      if (element.kind === 'track') throw FILE_MISSING(element.file);
      leftOut.push(element.file);
      continue;
    }
    taken.add(path);
    const small = unpacked.small.get(path);
    if (small && isText(element)) contents.catalogs.push(catalogOf(element, path, small));
    else
      addFile(
        contents,
        element,
        unpacked.stored.get(path) ?? (await storeSmall(path, small as Buffer, staged)),
      );
  }
  return { id, contents, leftOut };
}

function isText({ kind, flavor }: ManifestElement): boolean {
  return kind === 'catalog' || isPolicy(flavor);
}

function catalogOf({ flavor }: ManifestElement, path: string, content: Buffer) {
  return {
    id: randomUUID(),
    flavor,
    filename: safeFilename(path, 'file'),
    content: new TextDecoder().decode(content),
  };
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
