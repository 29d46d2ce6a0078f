import { withTimeout } from '#platform/process/timeout.ts';

/** What was asked of a part, or why it has not answered. */
export type Answer<T> = { value: T } | { fault: string };

const PATIENCE_MS = 3_000;

/** A part that hangs does not hang the page. @param part its name, at the beginning of a sentence */
export async function answerOf<T>(part: string, asked: Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await withTimeout(asked, PATIENCE_MS, '') };
  } catch {
    return { fault: `${part} does not answer.` };
  }
}
