import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { migrate } from '#platform/database/migrate.ts';
import { CommandError } from '../failure.ts';
import { withScratchDatabase } from './scratch-database.ts';

const TARGET = 'src/platform/database/schema.ts';

/**
 * Writes the types of the schema that the files of `sql/` make.
 *
 * @param verify change nothing, and fail when they would differ
 */
export async function generateSchema(project: string, verify: boolean): Promise<void> {
  await withScratchDatabase(async (url) => {
    await migrate(url);
    const run = spawnSync(
      process.execPath,
      [
        codegen(),
        '--config-file=.kysely-codegenrc.json',
        '--log-level=error',
        ...(verify ? ['--verify'] : []),
      ],
      { cwd: project, env: { ...process.env, DATABASE_URL: url }, encoding: 'utf8' },
    );
    if (run.status === 0) return;
    const output = `${run.stdout}${run.stderr}`.trim();
    if (verify && /not up-to-date/i.test(output)) {
      throw new CommandError(`${TARGET} is not what sql/ makes; run npm run generate.`);
    }
    throw new CommandError(`${TARGET} could not be generated: ${output || run.error?.message}`);
  });
}

function codegen(): string {
  try {
    const main = createRequire(import.meta.url).resolve('kysely-codegen');
    return join(dirname(main), 'cli', 'bin.js');
  } catch {
    throw new CommandError('kysely-codegen is not installed; run npm ci without --omit=dev.');
  }
}
