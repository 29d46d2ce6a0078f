import { randomUUID } from 'node:crypto';
import { FLAVOR } from '#catalogue/events/event-files.ts';
import type { DraftCatalog, DraftContents } from '#ingest/draft-contents.ts';
import type { ReceivedFile, StagedFiles } from '#ingest/staged-files.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { safeFilename } from '#platform/http/form/filename.ts';
import { CUTTING } from '#platform/media/cutting.ts';
import { detectTrackType } from '#platform/media/media-type.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { childOf, type XmlElement } from '#platform/text/xml.ts';
import { decodeUri, parseOrRefuse } from '../received-text.ts';
import { isPolicy, isReadable } from './package-catalogs.ts';
import { tagsIn } from './package-form.ts';
import type { ZipArchive, ZippedFile } from './zip-archive.ts';

const MOST_ELEMENTS = 500;

const NO_MANIFEST = refusal(
  400,
  (reason: string) => `The archive contains no valid media package: ${reason}. It must contain a manifest.xml.`,
  ['there is no manifest.xml'],
);
const FILE_MISSING = refusal(
  400,
  (file: string) => `The manifest names the file ${quoted(file)}, which is not in the archive.`,
  ['camera.mp4'],
);

const TRACK_WITHOUT_FLAVOR = refusal(
  400,
  (file: string) =>
    `The track ${quoted(file)} in the manifest has no valid 'type'; allowed is a flavor such as presenter/source.`,
  ['camera.mp4'],
);

export const MANIFEST_REFUSALS = [NO_MANIFEST, FILE_MISSING, TRACK_WITHOUT_FLAVOR];

/** An element of the manifest. */
export interface ManifestElement {
  kind: 'track' | 'catalog' | 'attachment';
  flavor: string;
  tags: string[];
  file: string;
}

/** The parsed manifest of an archive. */
export interface Manifest {
  /** The identifier of the media package; may be empty. */
  id: string;
  elements: ManifestElement[];
  /** Files without a flavor, such as copies of the schedule from agents. */
  nameless: string[];
}

/** Parses the manifest of an archive. @throws {HttpError} 400 */
export function readManifest(text: string): Manifest {
  const root = parseOrRefuse(text, NO_MANIFEST);
  if (root.name !== 'mediapackage') throw NO_MANIFEST('its manifest is not a <mediapackage>');
  const named = ['media', 'metadata', 'attachments']
    .map((name) => childOf(root, name))
    .flatMap((group) => group?.children ?? [])
    .flatMap((element) => elementOf(element) ?? []);
  if (named.length > MOST_ELEMENTS) throw NO_MANIFEST(`its manifest names more than ${MOST_ELEMENTS} files`);
  const elements = named.filter(({ flavor }) => FLAVOR.test(flavor));
  const others = named.filter(({ flavor }) => !FLAVOR.test(flavor));
  const track = others.find(({ kind }) => kind === 'track');
  if (track) throw TRACK_WITHOUT_FLAVOR(track.file);
  return {
    id: root.attributes.get('id')?.trim() ?? '',
    elements,
    nameless: others.map(({ file }) => file),
  };
}

function elementOf(element: XmlElement): ManifestElement | undefined {
  const kind = element.name;
  if (kind !== 'track' && kind !== 'catalog' && kind !== 'attachment') return undefined;
  const tags = childOf(element, 'tags')?.children.map(({ text }) => text) ?? [];
  return {
    kind,
    flavor: element.attributes.get('type')?.trim() ?? '',
    tags: tagsIn(tags.join(',')),
    file: (childOf(element, 'url')?.text ?? '').trim(),
  };
}

const MANIFEST = 'manifest.xml';
/** Maximum size of the manifest and of a catalog. */
const TEXT_BYTES = 2 ** 20;
const ALL_TEXT_BYTES = 16 * TEXT_BYTES;
/** Stands for an access control list that is too long. It fails to parse, so it is not ignored. */
const UNREAD = '';

/** The media package in an archive. */
export interface ZippedPackage {
  /** From the manifest; may be empty. */
  id: string;
  contents: DraftContents;
  /**
   * Files of the manifest that are not part of the package: empty files, and missing or invalid files other than
   * tracks.
   */
  leftOut: string[];
  /** The tracks among them. */
  emptyTracks: string[];
  /** The cutting lists among them. Nothing is cut then. */
  uncut: string[];
}

/**
 * Reads the media package in an archive. Files that the manifest does not name are ignored. Missing or invalid files
 * other than tracks are left out, because some agents list files that they have not packed; so are empty tracks. An
 * access control list must be readable if the event is new, because without it more people might see the event; one
 * that is too long is unreadable.
 * @throws {HttpError} 400 if the manifest is missing or invalid, or names a missing track
 */
export async function readZippedPackage(
  archive: ZipArchive,
  staged: StagedFiles,
  catalogs: CatalogSet,
): Promise<ZippedPackage> {
  const names = [...archive.files.keys()];
  const manifest = archive.files.get(names.find((each) => baseName(each) === MANIFEST) ?? '');
  if (!manifest || manifest.size > TEXT_BYTES) throw NO_MANIFEST(`there is no ${MANIFEST}`);
  const { id, elements, nameless } = readManifest(textOf(await archive.read(manifest)));
  const contents: DraftContents = { tracks: [], attachments: [], catalogs: [] };
  const left = new Map(archive.files);
  const leftOut: ManifestElement[] = [];
  let textBytes = ALL_TEXT_BYTES;
  for (const element of elements) {
    const { flavor, kind } = element;
    const file = left.get(pathOf(element.file, names) ?? '');
    if (!file) {
      if (kind === 'track') throw FILE_MISSING(element.file);
      leftOut.push(element);
      continue;
    }
    left.delete(file.name);
    const isPolicyText = isPolicy(flavor);
    const isText = kind === 'catalog' || isPolicyText;
    const fits = file.size <= Math.min(TEXT_BYTES, textBytes);
    if (file.size === 0 && !isPolicyText) leftOut.push(element);
    else if (isText && fits) {
      textBytes -= file.size;
      const content = textOf(await archive.read(file));
      if (isPolicyText || isReadable(flavor, content, catalogs)) {
        contents.catalogs.push(catalogOf(flavor, file.name, content));
      } else leftOut.push(element);
    } else if (isPolicyText) contents.catalogs.push(catalogOf(flavor, file.name, UNREAD));
    else if (flavor === CUTTING && !fits) leftOut.push(element);
    else addFile(contents, element, await store(archive, file, staged));
  }
  // Reads the remaining files, because a damaged archive is rejected.
  for (const file of left.values()) for await (const _ of archive.open(file));
  const filesOf = (list: readonly ManifestElement[]) => list.map(({ file }) => file);
  return {
    id,
    contents,
    leftOut: [...nameless, ...filesOf(leftOut)],
    emptyTracks: filesOf(leftOut.filter(({ kind }) => kind === 'track')),
    uncut: filesOf(leftOut.filter(({ flavor }) => flavor === CUTTING)),
  };
}

function catalogOf(flavor: string, path: string, content: string): DraftCatalog {
  return { id: randomUUID(), flavor, filename: safeFilename(path, 'file'), content };
}

function store(archive: ZipArchive, file: ZippedFile, staged: StagedFiles): Promise<ReceivedFile> {
  return staged.store({
    field: file.name,
    filename: safeFilename(file.name, 'file'),
    stream: archive.open(file),
    expectedBytes: file.size,
    detect: detectTrackType,
    isReceived: false,
  });
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

/** Finds a file of the manifest, which names it by a path, a URL or a bare name. */
function pathOf(file: string, paths: readonly string[]): string | undefined {
  const wanted = baseName(decodeUri(file));
  return (
    paths.find((path) => path === file) ??
    paths.find((path) => baseName(path) === wanted) ??
    paths.find((path) => baseName(path) === baseName(file))
  );
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
