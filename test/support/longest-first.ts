import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What a run begins with, so that no core waits for the last of them: the whole product, then other processes. */
const FIRST = [/^test\/e2e\/deno-embedded/, /^test\/e2e\//, /^tools\//, /^test\/integration\/uploads/];
/** A browser or ffmpeg needs a core for itself. */
const BUSY = /^test\/integration\/(.*(page|watch|frames)|media)/;

/**
 * Begins with what takes longest, and runs unit tests last. Within each kind large files come first. Files that keep a core
 * busy alternate with others, which often wait.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const pathOf = ({ moduleId }: TestSpecification) => relative(root, moduleId);
    const place = (file: TestSpecification) => {
      if (file.project.name === 'unit') return FIRST.length + 1;
      const found = FIRST.findIndex((kind) => kind.test(pathOf(file)));
      return found < 0 ? FIRST.length : found;
    };
    const sorted = (await super.sort(files)).sort((a, b) => place(a) - place(b));
    const busy = sorted.filter((file) => BUSY.test(pathOf(file)));
    const others = sorted.filter((file) => !busy.includes(file));
    return [...others.flatMap((file, i) => [file, ...busy.slice(i, i + 1)]), ...busy.slice(others.length)];
  }
}
