import { UNREADABLE } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';

/**
 * What is wrong with an object: `missing`, a row names it and the storage has none; `orphaned`, the storage has it and
 * nobody names it; `size` and `digest`, its bytes are not those that the row tells of; `staged`, it is a row's and on
 * the staging ledger as well, whose sweep would remove it.
 */
export type FindingKind = 'missing' | 'orphaned' | 'size' | 'digest' | 'staged';

/** Something that is wrong with an object, or with what is known of it. */
export interface Finding {
  kind: FindingKind;
  key: string;
  /** Null for what nobody owns. */
  owner: OwnedObject | null;
  /** In bytes; null where the storage has no such object. */
  size: number | null;
  /** In hexadecimal, or `UNREADABLE`, where somebody has tried to read the object. */
  sha256?: string;
  /** Of what nobody owns: an object, what is left of an upload that never ended, or a file that Inlet did not name. */
  what?: 'object' | 'unfinished' | 'foreign';
}

/** What a finding is about: a row, else an object. */
export function subjectOf({ key, owner }: Pick<Finding, 'key' | 'owner'>): string {
  return owner ? `${owner.table} ${owner.id}` : key;
}

const ORPHANS = {
  object: 'nobody owns it',
  unfinished: 'left of an upload that nobody goes on with',
  foreign: 'Inlet gives no such names',
};

/** A finding in one line: kind and key, the event where there is one, and in brackets what it is about. */
export function inWords({ kind, key, owner, size, sha256, what = 'object' }: Finding): string {
  const of = owner?.eventId ? ` event ${owner.eventId}` : '';
  const label = owner ? `${owner.label}: ` : '';
  return `${kind} ${key}${of} (${label}${detail()})`.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '�');

  function detail(): string {
    switch (kind) {
      case 'missing':
        return `${owner?.size} bytes are not there`;
      case 'orphaned':
        return size === null ? ORPHANS[what] : `${size} bytes, ${ORPHANS[what]}`;
      case 'size':
        return `${size} bytes instead of ${owner?.size}`;
      case 'digest':
        if (sha256 === UNREADABLE) return 'it cannot be read';
        return owner?.lostSum
          ? `the row has lost its SHA-256; what is there has ${sha256}`
          : `SHA-256 is ${sha256} instead of ${owner?.sha256}`;
      case 'staged':
        return 'the staging ledger would have it removed';
    }
  }
}
