import { minor } from './reference-documents.ts';

export interface ReferencePlaylist {
  id: string;
  title: string;
  updated: string;
  /** Identifiers of events. */
  entries: string[];
  /** Roles that may read it. */
  readers: string[];
}

export interface ReferenceGroup {
  identifier: string;
  name: string;
  roles: string[];
  members: string[];
}

export interface ListOptions {
  playlists: ReferencePlaylist[];
  groups: ReferenceGroup[];
  /** False for a server that has playlists switched off. */
  hasPlaylists: boolean;
  /** The number of items in each page; 0 for as many as requested, infinite for the whole list. */
  pageSize: number;
  /** Refuses pages of these lists from this offset. */
  refusedOffset: number;
}

type Json = Record<string, unknown>;

/** Lists that the reference server reads from its database, which has no window; undefined for a list that it does not have. */
export function furtherList(kind: string | undefined, options: ListOptions, version: string): Json[] | undefined {
  if (kind === 'groups') return options.groups.map(groupJson);
  const isKnown = kind === 'playlists' && options.hasPlaylists && minor(version) >= 11;
  return isKnown ? options.playlists.map(playlistJson) : undefined;
}

/** Returns a page: a limit of 0 is none. */
export function listPage(all: Json[], { offset, limit }: { offset: number; limit: number }): Json[] {
  return all
    .toSorted((a, b) => String(a.updated ?? a.name).localeCompare(String(b.updated ?? b.name)))
    .slice(offset, limit > 0 ? offset + limit : undefined);
}

function playlistJson({ id, title, updated, entries, readers }: ReferencePlaylist): Json {
  return {
    id,
    entries: entries.map((contentId, i) => ({ id: 1000 + i, contentId, type: 'EVENT' })),
    ...{ title, description: `About ${title}`, creator: 'Ada Lovelace', updated },
    accessControlEntries: readers.map((role, i) => ({ id: 2000 + i, allow: true, role, action: 'read' })),
  };
}

function groupJson({ identifier, name, roles, members }: ReferenceGroup): Json {
  return {
    ...{ identifier, organization: 'mh_default_org', role: `ROLE_GROUP_${identifier.toUpperCase()}`, name },
    ...{ description: '', roles: roles.join(','), members: members.join(',') },
  };
}
