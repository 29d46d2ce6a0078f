import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes tens of seconds, the longest first. The size of these files tells nothing of that. */
const LONGEST = [
  'test/e2e/changes-killed.test.ts',
  'test/e2e/uploads-killed.test.ts',
  'test/e2e/chaos-services.test.ts',
  'test/e2e/chaos-embedded.test.ts',
  'test/e2e/bench.test.ts',
  'test/e2e/upload-page.test.ts',
  'test/e2e/recorders-interrupted.test.ts',
  'test/e2e/shutdown.test.ts',
  'test/e2e/demo.test.ts',
  'test/e2e/take-over.test.ts',
  'test/e2e/redaction.test.ts',
  'test/e2e/debian-postgres.test.ts',
  'test/e2e/node-embedded.test.ts',
  'test/e2e/node-services.test.ts',
  'test/e2e/deno-services.test.ts',
  'test/e2e/edge-services.test.ts',
  'test/e2e/storage-failures.test.ts',
  'test/e2e/deno-embedded.test.ts',
  'test/e2e/queue-failures.test.ts',
  'test/integration/media-delivery.test.ts',
  'workers/operations/preview.integration.test.ts',
  'test/integration/docs-page.test.ts',
  'test/integration/embedded-postgres.test.ts',
  'test/integration/bad-bodies.test.ts',
  'test/integration/watch-page.test.ts',
  'test/integration/media-probe.test.ts',
  'test/integration/media-processes.test.ts',
];

/** Begins with the longest files, so that no core waits for the last of them; then e2e before integration before unit. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const place = ({ moduleId }: TestSpecification) => {
      const listed = LONGEST.indexOf(relative(root, moduleId));
      return listed < 0 ? LONGEST.length : listed;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
