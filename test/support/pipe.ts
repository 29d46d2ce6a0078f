import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

/** How many bytes a pipe takes that nobody reads. */
export const PIPE_BYTES = 65_536;

/**
 * A pipe whose reader can go (`close`) and come back (`open`). `writer` is the file to write to, `read` returns what is in
 * the pipe. It is removed when the test finishes, which of concurrent tests only the context of each can say.
 */
export function createPipe({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-pipe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  let reader = -1;
  const open = () => {
    reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  };
  const close = () => {
    if (reader >= 0) closeSync(reader);
    reader = -1;
  };
  open();
  onTestFinished(close);
  const writer = openSync(path, constants.O_WRONLY);
  return { writer, open, close, read: () => readAll(reader) };
}

function readAll(reader: number): string {
  const chunks: string[] = [];
  const chunk = Buffer.alloc(PIPE_BYTES);
  for (;;) {
    try {
      const count = readSync(reader, chunk);
      if (count === 0) return chunks.join('');
      chunks.push(chunk.toString('utf8', 0, count));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return chunks.join('');
      throw error;
    }
  }
}
