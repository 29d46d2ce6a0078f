import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { RECORDING_MOVES, type RecordingState } from './recording-state.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const STATES = Object.keys(RECORDING_MOVES) as RecordingState[];
/** In the order in which an agent that does everything goes through them. */
const STAGES: RecordingState[] = [
  ...(['capturing', 'capture_finished', 'manifest', 'manifest_finished', 'compressing'] as const),
  ...(['uploading', 'upload_finished'] as const),
];
const FAILURES = STATES.filter((state) => state.endsWith('_error'));

test('the table knows every state that the database takes', async () => {
  const sql = await readFile(new URL('../../../sql/0012_scheduling.sql', import.meta.url), 'utf8');
  const [, listed = ''] = /recording_state text .*CHECK \(recording_state IN\s*\(([^)]+)\)/.exec(sql) ?? [];
  expect([...listed.matchAll(/'(\w*)'/g)].map(([, state]) => state).sort()).toEqual([...STATES].sort());
});

test('whatever an agent tells first is taken', () => {
  expect([...RECORDING_MOVES['']].sort()).toEqual(STATES.filter((state) => state !== '').sort());
});

test.each([
  ['capturing', 4],
  ['capture_finished', 3],
  ['manifest', 3],
  ['manifest_finished', 2],
  ['compressing', 2],
  ['uploading', 1],
  ['upload_finished', 0],
] as const)('from %s a recording moves to a later stage or to one of the last %i failures', (stage, left) => {
  const later = STAGES.slice(STAGES.indexOf(stage) + 1);
  const failures = FAILURES.slice(FAILURES.length - left);
  expect([...RECORDING_MOVES[stage]].sort()).toEqual([...later, ...failures].sort());
});

test.each(FAILURES)('after %s a recording may be put off, done again, or come after all', (failure) => {
  expect(RECORDING_MOVES[failure]).toEqual(expect.arrayContaining(['', ...STAGES]));
});

test('nothing but the writer of schedules and the search for missed recordings writes the state of a recording', async () => {
  const writing: string[] = [];
  for (const folder of ['src', 'workers']) {
    for (const file of await readdir(join(PROJECT, folder), { recursive: true })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      const text = await readFile(join(PROJECT, folder, file), 'utf8');
      if (/set\(\{[^}]*\brecording_state\b|SET recording_state\b/.test(text)) writing.push(join(folder, file));
    }
  }
  const writers = ['src/capture/reports/missed-recordings.ts', 'src/capture/schedules/write-schedules.ts'];
  expect(writing.sort()).toEqual(writers);
});
