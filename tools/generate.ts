/**
 * `npm run generate`: writes the files that are made of others, the types of the database and the OpenAPI document.
 * With `--verify` it changes nothing and fails when one would differ.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { REFERENCE } from '../src/app/routes.ts';
import { CommandError, explain } from '../src/cli/failure.ts';
import { buildDocument } from '../src/openapi/document.ts';
import { startEmbedded } from '../src/platform/database/embedded/start-embedded.ts';
import { migrate } from '../src/platform/database/migrate.ts';

const DOCUMENT = 'src/openapi/openapi.json';
const SCHEMA = 'src/platform/database/schema.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));

try {
  const { values } = parseArgs({ options: { verify: { type: 'boolean', default: false } } });
  await generateDocument(PROJECT, values.verify);
  await generateSchema(PROJECT, values.verify);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}

/**
 * Writes the OpenAPI document that the schemas and the declared endpoints make.
 *
 * @param verify change nothing, and fail when it would differ
 */
async function generateDocument(project: string, verify: boolean): Promise<void> {
  const path = join(project, DOCUMENT);
  const text = `${JSON.stringify(buildDocument(REFERENCE), null, 2)}\n`;
  if (!verify) return writeFile(path, text);
  const present = await readFile(path, 'utf8').catch(() => '');
  if (present !== text) {
    throw new CommandError(`${DOCUMENT} is not what the schemas make; run npm run generate.`);
  }
}

/** An empty database, gone afterwards: on the server of TEST_DATABASE_URL where that is set. */
async function withScratchDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (serverUrl) return onServer(serverUrl, work);
  const folder = await mkdtemp(join(tmpdir(), 'inlet-generate-'));
  try {
    const server = await startEmbedded(folder);
    try {
      await work(server.databaseUrl);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onServer(serverUrl: string, work: (url: string) => Promise<void>): Promise<void> {
  const name = `generate_${process.pid}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
    await work(url.toString());
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.end();
  }
}

/**
 * Writes the types of the schema that the files of `sql/` make.
 *
 * @param verify change nothing, and fail when they would differ
 */
async function generateSchema(project: string, verify: boolean): Promise<void> {
  await withScratchDatabase(async (url) => {
    await migrate(url);
    const run = spawnSync(
      process.execPath,
      [codegen(), '--config-file=.kysely-codegenrc.json', '--log-level=error', ...(verify ? ['--verify'] : [])],
      { cwd: project, env: { ...process.env, DATABASE_URL: url }, encoding: 'utf8' },
    );
    if (run.status === 0) return;
    const output = `${run.stdout}${run.stderr}`.trim();
    if (verify && /not up-to-date/i.test(output)) {
      throw new CommandError(`${SCHEMA} is not what sql/ makes; run npm run generate.`);
    }
    throw new CommandError(`${SCHEMA} could not be generated: ${output || run.error?.message}`);
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
