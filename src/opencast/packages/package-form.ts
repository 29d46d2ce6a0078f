import type { Context } from 'hono';
import { z } from 'zod';
import { chosenIdentifier } from '#catalogue/events/event-columns.ts';
import { FLAVOR } from '#catalogue/events/event-files.ts';
import { DRAFT_GONE } from '#ingest/drafts.ts';
import { type FormParts, receiveForm } from '#ingest/receive-form.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { type FilePart, isMultipart } from '#platform/http/form/multipart.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { parseOrRefuse } from '../received-text.ts';
import { packageOf, SLOT_WAIT_MS } from './packages.ts';

const MOST_TAGS = 1000;
const TAG = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

const NO_FLAVOR = refusal(400, "Missing form parameter 'flavor'; it must precede its file.");
const WRONG_FLAVOR = refusal(
  400,
  (flavor: string) =>
    `The form parameter 'flavor' is ${quoted(flavor)}; allowed are a type and a subtype of 1 to 128 characters without blanks, separated by a slash.`,
  ['presenter'],
);
export const FLAVOR_REFUSALS = [NO_FLAVOR, WRONG_FLAVOR];
export const WRONG_TAGS = refusal(
  400,
  (tags: string) =>
    `The form parameter 'tags' is ${quoted(tags)}; allowed are up to ${MOST_TAGS} tags of up to 255 visible characters, separated by commas.`,
  ['\u0007'],
);

/** The form field with the media package that a client sends back. */
export const PackageField = z.string().meta({ description: 'The media package from the last answer.' });

/** The form fields that describe an element of a media package. */
export const ElementFields = {
  flavor: z.string().meta({ description: 'Kind of the element. Must precede its file.', example: 'presenter/source' }),
  tags: z.string().optional().describe('Separated by commas; may be empty.'),
};

/** @throws {HttpError} 400 */
export function flavorIn(text: string | undefined): string {
  const flavor = text?.trim();
  if (!flavor) throw NO_FLAVOR();
  if (!FLAVOR.test(flavor)) throw WRONG_FLAVOR(flavor);
  return flavor;
}

/** @throws {HttpError} 400 */
export function tagsIn(text = ''): string[] {
  const tags = [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
  if (tags.length > MOST_TAGS || !tags.every((tag) => TAG.test(tag))) throw WRONG_TAGS(text);
  return tags;
}

const MOST = { fields: 1000, files: 20 };

/**
 * Returns the fields of a form without recordings, urlencoded or multipart. Some clients send fields as files: a file
 * of up to 1 MiB is read as the field.
 * @throws {HttpError} 400 for an invalid form, 413 for a field that is too long
 * @throws {ClientDisconnected}
 */
export async function textFields(request: EndpointRequest, parts: FormParts): Promise<ReadonlyMap<string, string>> {
  if (!isMultipart(request.c.req.header('Content-Type') ?? '')) return request.fields();
  const takes = async () => 'text' as const;
  await using form = await receiveForm(request, { takes, most: MOST, waitMs: SLOT_WAIT_MS }, parts);
  return form.fields;
}

/**
 * Returns a request that skips empty files. An agent that gets an error for an input without a recording gives up all
 * other inputs too.
 * @param counts true for form fields whose empty files are skipped
 */
export function skipEmptyFiles(
  request: EndpointRequest,
  counts: (field: string) => boolean,
  onEmpty: (part: FilePart) => void,
): EndpointRequest {
  const files: EndpointRequest['files'] = (limits, onFile, onField) => {
    const handle = async (part: FilePart) => {
      if (!part.isEmpty || !counts(part.field)) return onFile(part);
      part.stream.resume();
      onEmpty(part);
    };
    return request.files(limits, handle, onField);
  };
  return { ...request, files };
}

const NO_PACKAGE = refusal(400, "Missing form parameter 'mediaPackage'");
const UNREADABLE_PACKAGE = refusal(
  400,
  (reason: string) =>
    `The form parameter 'mediaPackage' is not a media package: ${reason}. Send the media package from the last answer.`,
  ['it is not well-formed XML'],
);

export const PACKAGE_REFUSALS = [NO_PACKAGE, UNREADABLE_PACKAGE, DRAFT_GONE];

/**
 * Returns the identifier of the media package that a client sends back. Nothing else in it is trusted. Any namespace
 * prefix is accepted.
 * @throws {HttpError} 400
 */
function packageIdIn(text: string | undefined): string {
  if (!text?.trim()) throw NO_PACKAGE();
  const root = parseOrRefuse(text, UNREADABLE_PACKAGE);
  const id = root.name === 'mediapackage' ? root.attributes.get('id')?.trim() : undefined;
  if (id) return id;
  throw UNREADABLE_PACKAGE('it is not a <mediapackage> with an id');
}

export const WRONG_IDENTIFIER = refusal(
  400,
  (id: string) =>
    `The identifier of the media package is ${quoted(id)}; allowed are 1 to 255 letters, digits and . _ ~ : @ -, not dots alone.`,
  ['a/b'],
);

/** Returns a valid identifier for an event; undefined for other text. */
export function validIdentifier(text: string): string | undefined {
  try {
    return chosenIdentifier(new Map([['identifier', text]]));
  } catch {
    return undefined;
  }
}

/** Returns a valid identifier for an event. @throws {HttpError} 400 */
export function identifierIn(text: string): string {
  const id = validIdentifier(text);
  if (id === undefined) throw WRONG_IDENTIFIER(text);
  return id;
}

/** Returns the draft of the media package that a form names. @throws {HttpError} 400 */
export function readPackageReference(c: Context, fields: ReadonlyMap<string, string>) {
  return packageOf(packageIdIn(fields.get('mediaPackage')), c.var.principal);
}
