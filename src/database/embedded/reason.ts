import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_BYTES = 16_384;

/** What a PostgreSQL program complained about last: the sentence after FATAL, or its last line. */
export function lastComplaint(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const complaint = lines.findLast((line) => /\b(FATAL|PANIC|error):/.test(line));
  return (complaint ?? lines.at(-1) ?? 'it said nothing').replace(/^.*?\b(FATAL|PANIC|error):\s*/, '');
}

/** What was appended to a file since it was `offset` bytes long; the last 16 KiB at most. */
export function textSince(path: string, offset: number): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const start = Math.max(offset, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, start));
  } finally {
    closeSync(file);
  }
}
