import { UNREADABLE } from '../digests.ts';
import type { OwnedObject } from '../owned-objects.ts';

/**
 * The kinds of findings: `missing`, the storage has no object for a row; `orphaned`, the storage has an object without
 * a row; `size` and `digest`, the bytes do not match the row; `staged`, the staging ledger would have the object of a
 * row removed.
 */
export type FindingKind = 'missing' | 'orphaned' | 'size' | 'digest' | 'staged';

/** A mismatch between the database and the storage. */
export interface Finding {
  kind: FindingKind;
  key: string;
  /** Null for orphans. */
  owner: OwnedObject | null;
  /** In bytes; null if the storage has no such object. */
  size: number | null;
  /** In hexadecimal, or `UNREADABLE`; absent if the object was not read. */
  sha256?: string;
  /** The kind of an orphan: an object, an unfinished upload, or a file that is not Inlet's. */
  what?: 'object' | 'unfinished' | 'foreign';
}

/** Returns the subject of a finding: a row, else an object. */
export function subjectOf({ key, owner }: Pick<Finding, 'key' | 'owner'>): string {
  return owner ? `${owner.table} ${owner.id}` : key;
}

const ORPHANS = {
  object: 'no owner',
  unfinished: 'left over from an unfinished upload',
  foreign: 'not a name that Inlet uses',
};

/** Formats a finding as one line: kind, key, event and, in brackets, details. */
export function describeFinding({ kind, key, owner, size, sha256, what = 'object' }: Finding): string {
  const of = owner?.eventId ? ` event ${owner.eventId}` : '';
  const label = owner ? `${owner.label}: ` : '';
  return `${kind} ${key}${of} (${label}${detail()})`.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '�');

  function detail(): string {
    switch (kind) {
      case 'missing':
        return `${owner?.size} bytes are missing`;
      case 'orphaned':
        return size === null ? ORPHANS[what] : `${size} bytes, ${ORPHANS[what]}`;
      case 'size':
        return `${size} bytes instead of ${owner?.size}`;
      case 'digest':
        if (sha256 === UNREADABLE) return 'it cannot be read';
        return owner?.lostSum
          ? `the row has lost its SHA-256; the stored bytes have ${sha256}`
          : `SHA-256 is ${sha256} instead of ${owner?.sha256}`;
      case 'staged':
        return 'the staging ledger would have it removed';
    }
  }
}
