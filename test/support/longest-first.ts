import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What a run begins with, so that no core waits for the last of them: the whole product, then other processes. */
const FIRST = [/^test\/e2e\/deno-embedded/, /^test\/e2e\//, /^tools\//, /^test\/integration\/.*page/];

/** Begins with what takes longest, and runs unit tests last. Within each kind large files come first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const place = ({ moduleId, project }: TestSpecification) => {
      if (project.name === 'unit') return FIRST.length + 1;
      const found = FIRST.findIndex((kind) => kind.test(relative(root, moduleId)));
      return found < 0 ? FIRST.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
