import type { Finding } from '../verify/finding.ts';

/** Of more objects that are missing or damaged it is not looked up at once which others they might be. */
const MOST = 10_000;

/** What rows do not find under their keys. */
export interface SoughtObjects {
  /** By size and SHA-256, where that is known. */
  bySize: Map<number, Map<string, Finding[]>>;
  /** Sizes of those whose SHA-256 nobody knows. */
  unsummed: ReadonlySet<number>;
  /** Whether these are all. */
  complete: boolean;
}

/** Which objects could be found under another key. */
export async function soughtObjects(findings: AsyncIterable<Finding>): Promise<SoughtObjects> {
  const bySize: SoughtObjects['bySize'] = new Map();
  const unsummed = new Set<number>();
  let count = 0;
  for await (const finding of findings) {
    const { kind, owner } = finding;
    if (!['missing', 'size', 'digest'].includes(kind) || !owner) continue;
    count += 1;
    if (count > MOST) return { bySize, unsummed, complete: false };
    if (owner.sha256 === null) {
      unsummed.add(owner.size);
      continue;
    }
    const alike = bySize.get(owner.size) ?? new Map<string, Finding[]>();
    bySize.set(owner.size, alike.set(owner.sha256, [...(alike.get(owner.sha256) ?? []), finding]));
  }
  return { bySize, unsummed, complete: true };
}

/** All of them whose digest is known. */
export function* eachSought({ bySize }: SoughtObjects): Generator<Finding> {
  for (const alike of bySize.values()) for (const findings of alike.values()) yield* findings;
}
