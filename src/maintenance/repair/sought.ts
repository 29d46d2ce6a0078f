import type { Finding } from '../verify/finding.ts';

/** Of more objects that are missing or damaged it is not looked up at once which others they might be. */
const MOST = 10_000;

/** What rows do not find under their keys. */
export interface SoughtObjects {
  /** By size and SHA-256, where that is known. */
  bySize: Map<number, Map<string, Finding[]>>;
  /** Those whose SHA-256 the rows do not know, by size. */
  unsummed: ReadonlyMap<number, Finding[]>;
  /** Whether these are all. */
  complete: boolean;
}

/** Which objects could be found under another key. */
export async function soughtObjects(findings: AsyncIterable<Finding>): Promise<SoughtObjects> {
  const bySize: SoughtObjects['bySize'] = new Map();
  const unsummed = new Map<number, Finding[]>();
  let count = 0;
  for await (const finding of findings) {
    const { kind, owner } = finding;
    if (!['missing', 'size', 'digest'].includes(kind) || !owner) continue;
    count += 1;
    if (count > MOST) return { bySize, unsummed, complete: false };
    if (owner.sha256 === null) {
      unsummed.set(owner.size, [...(unsummed.get(owner.size) ?? []), finding]);
      continue;
    }
    const alike = bySize.get(owner.size) ?? new Map<string, Finding[]>();
    bySize.set(owner.size, alike.set(owner.sha256, [...(alike.get(owner.sha256) ?? []), finding]));
  }
  return { bySize, unsummed, complete: true };
}

/** All of them. */
export function* eachSought({ bySize, unsummed }: SoughtObjects): Generator<Finding> {
  for (const findings of unsummed.values()) yield* findings;
  for (const alike of bySize.values()) for (const findings of alike.values()) yield* findings;
}
