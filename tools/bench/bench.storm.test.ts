import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { run } from '../../test/support/run.ts';
import type { TableName } from './options.ts';
import type { Table } from './support/figures.ts';

/** All of them take minutes; the others are measured alike. */
const MEASURED: readonly TableName[] = ['upload', 'lists'];
/** As little as shows that a table can be measured. */
const SMALLEST = ['--quick', '--rounds', '1', '--events', '1000', '--size', '4MiB'];

const { serverUrl } = inject('postgres');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-bench-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test(`npm run bench -- --quick measures ${MEASURED.join(', ')}, and tidies up`, {
  timeout: 600_000,
}, async () => {
  const json = join(folder, 'results.json');
  const { code, stdout, stderr } = await run(
    'npm',
    ['run', '--silent', 'bench', '--', ...SMALLEST, '--only', MEASURED.join(), '--json', json],
    {
      HOME: folder,
      TMPDIR: folder,
      DATA_DIR: join(folder, 'data'),
      DATABASE_URL: serverUrl,
    },
  );
  expect([code, stderr], stdout).toEqual([0, '']);
  expect(stdout).toContain(`Written to ${json}.\n`);
  const { tables } = JSON.parse(await readFile(json, 'utf8')) as { tables: Table[] };
  expect(tables.map(({ name }) => name)).toEqual(MEASURED);
  for (const { title, rows } of tables) {
    expect(stdout).toContain(`\n${title}\n`);
    expect(rows).not.toEqual([]);
    for (const { label, figures } of rows) {
      expect(stdout).toContain(`\n${label}`);
      const samples = Object.values(figures).flatMap((figure) => figure.samples);
      expect(samples.length, label).toBeGreaterThan(0);
      for (const sample of samples) expect(sample, label).toBeGreaterThan(0);
    }
  }
  expect(await readdir(join(folder, 'data'))).toEqual([]);
  expect(await databases('inlet_bench%')).toEqual([]);
});

async function databases(like: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  const { rows } = await client.query<{ datname: string }>('SELECT datname FROM pg_database WHERE datname LIKE $1', [
    like,
  ]);
  await client.end();
  return rows.map(({ datname }) => datname);
}
