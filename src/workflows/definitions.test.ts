import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadDefinitions, parseDefinition } from './definitions.ts';

const MINIMAL = `id: a
title: A
operations:
  - operation: inspect
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-workflows-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('the usual workflow answers to its other name, and to names nobody knows', async () => {
  const definitions = await loadDefinitions(undefined);
  for (const name of ['schedule-and-upload', 'ng-schedule-and-upload', 'nobody-knows']) {
    expect(definitions.resolve(name).id).toBe('schedule-and-upload');
  }
  for (const id of ['fast', 'publish', 'republish-metadata', 'retract'])
    expect(definitions.resolve(id).id).toBe(id);
});

const PREPARE = ['inspect', 'cut', 'encode', 'preview', 'captions'];

test.each<[name: string, configuration: Record<string, string>, operations: string[]]>([
  ['fast', {}, [...PREPARE, 'publish']],
  ['republish-metadata', {}, ['republish']],
  ['fast', { straightToPublishing: 'false', flagForCutting: 'true' }, [...PREPARE, 'publish']],
  ['schedule-and-upload', {}, [...PREPARE, 'publish']],
  ['schedule-and-upload', { straightToPublishing: 'true' }, [...PREPARE, 'publish']],
  ['schedule-and-upload', { straightToPublishing: 'false' }, [...PREPARE, 'publish internal']],
  ['schedule-and-upload', { publishToEngage: 'false' }, PREPARE],
  [
    'schedule-and-upload',
    { straightToPublishing: 'false', publishToEngage: 'false' },
    [...PREPARE, 'publish internal'],
  ],
  ['schedule-and-upload', { flagForCutting: 'true' }, [...PREPARE, 'pause', 'publish']],
  ['schedule-and-upload', { flagForReview: 'true' }, [...PREPARE, 'pause', 'publish']],
  [
    'schedule-and-upload',
    { flagForReview: 'true', straightToPublishing: 'false' },
    [...PREPARE, 'pause', 'publish internal'],
  ],
])('%s with %j consists of %j', async (name, values, operations) => {
  const definition = (await loadDefinitions(undefined)).resolve(name);
  const configuration = { ...definition.configuration, ...values };
  const taken = definition.operations.filter((each) => !each.if || each.if.test(configuration));
  expect(taken.map((each) => [each.operation, each.configuration.channel].filter(Boolean).join(' '))).toEqual(
    operations,
  );
});

test("a site's own definition replaces the built-in one of the same id", async () => {
  await writeFile(join(folder, 'own.yaml'), MINIMAL.replace('id: a', 'id: publish'));
  const definitions = await loadDefinitions(folder);
  expect(definitions.resolve('publish').title).toBe('A');
  expect(definitions.resolve('ng-schedule-and-upload').id).toBe('schedule-and-upload');
});

test('a folder that is not there is refused by the name of its variable', async () => {
  await expect(loadDefinitions(join(folder, 'nowhere'))).rejects.toThrow(/^WORKFLOWS_DIR is/);
});

test('times and retries are read in the units of the database', () => {
  const [operation] = parseDefinition('f', `${MINIMAL}    time_limit: 90m\n    retries: 2\n`).operations;
  expect(operation).toMatchObject({ time_limit: 5_400_000, retries: 2 });
});

test.each([
  ['a broken file', 'id: [', /^f\.yaml:1: /],
  ['a missing title', 'id: a\noperations:\n  - operation: inspect\n', /^f\.yaml:1: title: /],
  ['an unknown key', `${MINIMAL}    retrys: 2\n`, /^f\.yaml:4: operations\.0: .*retrys/],
  ['a time without unit', `${MINIMAL}    time_limit: 10\n`, /^f\.yaml:5: operations\.0\.time_limit: /],
  ['a broken condition', `${MINIMAL}    if: a &&\n`, /^f\.yaml:5: operations\.0\.if: .*at the end/],
  ['a condition on an unknown key', `${MINIMAL}    if: a\n`, /^f\.yaml:5: operations\.0\.if: .*"a"/],
  [
    'an unknown operation',
    MINIMAL.replace('inspect', 'inspekt'),
    /^f\.yaml:4: no operation is called "inspekt"/,
  ],
])('%s is refused with file and line', (_name, source, message) => {
  expect(() => parseDefinition('f.yaml', source, new Set(['inspect']))).toThrow(message);
});
