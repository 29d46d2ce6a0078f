import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes tens of seconds, the longest first. The size of these files tells nothing of that. */
const LONGEST = [
  'test/e2e/changes-killed.storm.test.ts',
  'test/e2e/uploads-killed.storm.test.ts',
  'test/e2e/chaos-services.storm.test.ts',
  'test/e2e/chaos-embedded.storm.test.ts',
  'test/e2e/bench.test.ts',
  'test/e2e/upload-page.test.ts',
  'test/e2e/recorders-interrupted.storm.test.ts',
  'test/e2e/shutdown.test.ts',
  'test/e2e/demo.storm.test.ts',
  'test/e2e/take-over.storm.test.ts',
  'test/e2e/redaction.full.test.ts',
  'test/e2e/debian-postgres.full.test.ts',
  'test/e2e/node-embedded.test.ts',
  'test/e2e/node-services.full.test.ts',
  'test/e2e/deno-services.full.test.ts',
  'test/e2e/edge-services.full.test.ts',
  'test/e2e/storage-failures.storm.test.ts',
  'test/e2e/deno-embedded.test.ts',
  'test/e2e/queue-failures.storm.test.ts',
  'test/integration/media-delivery.full.test.ts',
  'workers/operations/preview.integration.test.ts',
  'test/integration/docs-page.full.test.ts',
  'test/integration/embedded-postgres.full.test.ts',
  'test/integration/bad-input.full.test.ts',
  'test/integration/watch-page.full.test.ts',
  'test/integration/media-probe.full.test.ts',
  'test/integration/media-processes.full.test.ts',
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
