import {
  type CutPart,
  InvalidCutting,
  type KeptPart,
  keepsAll,
  lengthOf,
  MAX_PARTS,
  parseCutting,
  partsWithin,
} from '#platform/media/cutting.ts';
import { INVALID_CUT } from './editing-refusals.ts';

/** A stretch of a recording, in milliseconds. */
export interface Segment {
  start: number;
  end: number;
  deleted: boolean;
}

/** Editors round the end of a recording. */
const TOLERANCE_MS = 1000;

/** Returns the segments of a saved cut, with the deleted ones between them; none without a readable one. */
export function savedSegments(catalog: string | undefined, duration: number): Segment[] {
  const parts = partsWithin(catalog === undefined ? [] : readableParts(catalog), duration);
  const segments: Segment[] = [];
  let at = 0;
  for (const { begin, end } of parts) {
    if (begin > at) segments.push({ start: at, end: begin, deleted: true });
    segments.push({ start: begin, end, deleted: false });
    at = end;
  }
  if (parts.length > 0 && at < duration) segments.push({ start: at, end: duration, deleted: true });
  return segments;
}

function readableParts(catalog: string): CutPart[] {
  try {
    return parseCutting(catalog);
  } catch (error) {
    if (error instanceof InvalidCutting) return [];
    throw error;
  }
}

/**
 * Returns the parts that segments keep; undefined for the whole recording, which is also what no segments mean. Time
 * without a segment is deleted.
 *
 * @throws {HttpError} 400
 */
export function keptParts(segments: readonly Segment[], duration: number): KeptPart[] | undefined {
  if (segments.length === 0) return undefined;
  const kept = sorted(segments, duration).flatMap(({ start, end, deleted }) =>
    // Without a whole millisecond, nothing is left of a segment.
    deleted || start === end ? [] : [{ begin: start, end }],
  );
  const parts = partsWithin(kept, duration);
  if (lengthOf(parts) === 0) throw INVALID_CUT('it deletes the whole recording');
  if (parts.length > MAX_PARTS) throw INVALID_CUT(`it keeps more than ${MAX_PARTS} parts`);
  return keepsAll(parts, duration) ? undefined : parts;
}

/** @throws {HttpError} 400 for segments that overlap or are outside of the recording */
function sorted(segments: readonly Segment[], duration: number): Segment[] {
  const ordered = segments.map((segment) => ({
    ...segment,
    start: Math.round(segment.start),
    end: Math.min(Math.round(segment.end), duration + TOLERANCE_MS),
  }));
  for (const [i, { start, end }] of segments.entries()) {
    const name = `segment ${i + 1}`;
    if (start < 0) throw INVALID_CUT(`${name} starts at ${seconds(start)}, before the recording`);
    if (end <= start) throw INVALID_CUT(`${name} ends at ${seconds(end)}, not after its start at ${seconds(start)}`);
    if (end > duration + TOLERANCE_MS) {
      throw INVALID_CUT(`${name} ends at ${seconds(end)}, but the recording ends at ${seconds(duration)}`);
    }
  }
  ordered.sort((a, b) => a.start - b.start);
  for (const [i, { start }] of ordered.entries()) {
    const before = ordered[i - 1];
    if (!before || before.end <= start) continue;
    throw INVALID_CUT(`the segments that start at ${seconds(before.start)} and ${seconds(start)} overlap`);
  }
  return ordered;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

/** Returns a cutting catalog with these parts. */
export function cuttingCatalog(parts: readonly KeptPart[]): string {
  const pars = parts.map(({ begin, end }) => `<par><ref clipBegin="${begin}ms" clipEnd="${end}ms"/></par>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<smil xmlns="http://www.w3.org/ns/SMIL" version="3.0"><body>
${pars.join('\n')}
</body></smil>
`;
}
