import { quoted } from '#capture/agents/names.ts';
import { FLAVOR } from '#catalogue/events/flavor.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { childOf, parseXml, type XmlElement, XmlFault } from '#platform/text/xml.ts';
import { tagsIn } from './element-fields.ts';

const MOST_ELEMENTS = 500;

export const NO_MANIFEST = refusal(
  400,
  (reason: string) => `The archive holds no media package: ${reason}. It needs a manifest.xml.`,
  ['there is no manifest.xml'],
);
export const FILE_MISSING = refusal(
  400,
  (file: string) => `The manifest names the file ${quoted(file)}, which the archive does not hold.`,
  ['camera.mp4'],
);

export const TRACK_WITHOUT_FLAVOR = refusal(
  400,
  (file: string) =>
    `The manifest says of the track ${quoted(file)} no flavor that there can be, as its type; allowed is one such as presenter/source.`,
  ['camera.mp4'],
);

/** A part of a media package in an archive. */
export interface ManifestElement {
  kind: 'track' | 'catalog' | 'attachment';
  flavor: string;
  tags: string[];
  /** As the manifest names it. */
  file: string;
}

/** What the manifest of an archive says. */
export interface Manifest {
  /** The identifier of the media package; empty when it has none. */
  id: string;
  elements: ManifestElement[];
  /** Files of parts that have no flavor, as agents send along what they were told of the schedule. */
  nameless: string[];
}

/** Reads the manifest of an archive. @throws {HttpError} 400 */
export function readManifest(text: string): Manifest {
  const root = rootOf(text);
  if (root.name !== 'mediapackage') throw NO_MANIFEST('its manifest is no <mediapackage>');
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

function rootOf(text: string): XmlElement {
  try {
    return parseXml(text);
  } catch (error) {
    throw error instanceof XmlFault ? NO_MANIFEST(error.message) : error;
  }
}
