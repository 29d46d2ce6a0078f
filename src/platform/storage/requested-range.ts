import type { ByteRange } from './object-storage.ts';

type RequestedRange = 'all' | 'unsatisfiable' | ByteRange;

const SINGLE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/** Parses a Range header. Multiple ranges and other units select everything, as RFC 9110 (section 14.2) allows. */
export function requestedRange(header: string | undefined, size: number): RequestedRange {
  const [, first = '', last = ''] = SINGLE.exec(header ?? '') ?? [];
  if (first === '') return suffix(last, size);
  const start = Number(first);
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last);
  if (end < start) return 'all';
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable';
}

function suffix(length: string, size: number): RequestedRange {
  if (length === '') return 'all';
  if (Number(length) === 0) return 'unsatisfiable';
  return size === 0 ? 'all' : { start: Math.max(0, size - Number(length)), end: size - 1 };
}
