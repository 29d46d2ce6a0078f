/** Measures Inlet side by side with what it is built on, and prints the ratios: `npm run bench -- --help`. */
import { writeFileSync } from 'node:fs';
import { explain } from '../../src/cli/failure.ts';
import { parseOptions, TABLES, type TableName, USAGE, UsageError } from './options.ts';
import { type Bench, createBench } from './setup/bench.ts';
import { describeMachine, machineText } from './setup/machine.ts';
import { Cleanup, cleanUpOnSignals } from './support/cleanup.ts';
import { summary, type Table } from './support/figures.ts';
import { tableMarkdown, tableText } from './support/print.ts';
import { measureAgents } from './tables/agents.ts';
import { measureLists } from './tables/lists.ts';
import { measureMemory } from './tables/memory.ts';
import { measurePoll } from './tables/poll.ts';
import { measureQueue } from './tables/queue.ts';
import { measureRecordings } from './tables/recordings.ts';
import { measureScheduling } from './tables/scheduling.ts';
import { measureThroughput } from './tables/throughput.ts';
import { measureUpdates } from './tables/updates.ts';
import { measureUpload } from './tables/upload.ts';
import { measureWaiting } from './tables/waiting.ts';
import { measureWorkflow } from './tables/workflow.ts';

type Measure = (bench: Bench, onRound: (round: number) => void) => Promise<Table>;

const MEASURES: Record<TableName, Measure> = {
  upload: measureUpload,
  memory: measureMemory,
  workflow: measureWorkflow,
  queue: measureQueue,
  waiting: measureWaiting,
  poll: measurePoll,
  lists: measureLists,
  recordings: measureRecordings,
  scheduling: measureScheduling,
  throughput: measureThroughput,
  agents: measureAgents,
  updates: measureUpdates,
};

const cleanup = new Cleanup();
cleanUpOnSignals(cleanup);
try {
  await main();
} catch (error) {
  if (!cleanup.begun) console.error(explanation(error));
  process.exitCode = 1;
} finally {
  await cleanup.run();
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) {
    console.log(USAGE);
    return;
  }
  const bench = await createBench(options, cleanup);
  const machine = await describeMachine(bench);
  console.log(`${machineText(machine)}\n`);
  if (options.quick) console.log('--quick: these figures show that everything works, not how fast it is.\n');
  const tables: Table[] = [];
  for (const name of TABLES.filter((table) => options.only.includes(table))) {
    const table = await MEASURES[name](bench, (round) => progress(`${name}: round ${round}`));
    progress('');
    tables.push(table);
    console.log(`${options.markdown ? tableMarkdown(table) : tableText(table)}\n`);
  }
  const { quick, size, runtime } = options;
  const result = { machine, options: { quick, size, runtime }, tables: tables.map(withSummaries) };
  writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
  console.log(`Written to ${options.json}.`);
}

function explanation(error: unknown): string {
  return error instanceof UsageError ? error.message : explain(error);
}

/** What is going on, on a terminal only. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

function withSummaries(table: Table) {
  const rows = table.rows.map(({ label, figures }) => ({
    label,
    figures: Object.fromEntries(
      Object.entries(figures).map(([name, figure]) => [name, { ...figure, ...summary(figure.samples) }]),
    ),
  }));
  return { ...table, rows };
}
