import { badRequest } from '../http/errors.ts';
import { isTrue } from '../http/query.ts';

const FLAVOR_PART = /^[^/\s\p{C}]{1,128}$/u;
const TAG_LENGTH = 255;
const MOST_TAGS = 1000;

/** What a client asks for beside the file of a track. */
export interface TrackRequest {
  flavor: string;
  tags: string[];
  /** Whether tracks of the flavor make room for this one. */
  overwriteExisting: boolean;
}

/** Reads the form fields of a track. @throws {HttpError} 400 with the sentences clients know (compatibility 3.13) */
export function parseTrackRequest(fields: ReadonlyMap<string, string>): TrackRequest {
  return {
    flavor: parseFlavor(fields.get('flavor')?.trim() ?? ''),
    tags: parseTags(fields.get('tags') ?? ''),
    overwriteExisting: isTrue(fields.get('overwriteExisting')?.trim()),
  };
}

/** 400 for whatever else is wrong with a track. */
export function cannotAdd(reason: string) {
  return badRequest(`Could not add track: ${reason}`);
}

function parseFlavor(text: string): string {
  const refused = (reason: string) =>
    badRequest(`Could not parse flavor ${text.slice(0, 300).replaceAll(/\p{C}/gu, '')}; ${reason}`);
  if (text === '') throw refused('the form must have a field flavor with a type and a subtype');
  const parts = text.split('/');
  if (parts.length !== 2) throw refused('it must be a type and a subtype with one slash between them');
  if (!parts.every((part) => FLAVOR_PART.test(part))) {
    throw refused('its type and subtype must have 1 to 128 characters each and no blanks');
  }
  return text;
}

function parseTags(text: string): string[] {
  const tags = [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
  if (tags.length > MOST_TAGS) throw cannotAdd(`there may be ${MOST_TAGS} tags, and here are more.`);
  for (const tag of tags) {
    if (tag.length > TAG_LENGTH) throw cannotAdd(`a tag is longer than ${TAG_LENGTH} characters.`);
    if (/[\p{Cc}\p{Cs}]/u.test(tag)) throw cannotAdd('a tag holds a character that nobody can see.');
  }
  return tags;
}
