import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '#test/support/folders.ts';
import { parseCommandSettings, resultFlavor } from './command-settings.ts';
import { loadDefinitions, parseDefinition } from './load-definitions.ts';
import { operationCheck } from './operation-check.ts';
import { parseProcessing } from './processing-request.ts';
import { reasonKey } from './reason-key.ts';
import { compileCondition } from './workflow-definition.ts';

const MINIMAL = 'id: a\ntitle: A\noperations:\n  - operation: inspect\n';

test('the usual workflow answers to its other name, and to names nobody knows', async () => {
  const definitions = await loadDefinitions(undefined);
  for (const name of ['schedule-and-upload', 'ng-schedule-and-upload', 'nobody-knows'])
    expect(definitions.resolve(name).id).toBe('schedule-and-upload');
  for (const id of ['fast', 'publish', 'republish-metadata', 'retract']) expect(definitions.resolve(id).id).toBe(id);
});

const PREPARE = ['inspect', 'cut', 'encode', 'preview', 'captions', 'editor-preview'];
const EARLY = ['inspect', 'cut', 'encode', 'publish', 'encode', 'publish', 'preview', 'captions', 'editor-preview'];
const USUAL = 'schedule-and-upload';

test.each<[name: string, configuration: Record<string, string>, operations: string[]]>([
  ['fast', {}, [...EARLY, 'publish']],
  ['fast', { watchEarly: 'false' }, [...PREPARE, 'publish']],
  ['republish-metadata', {}, ['republish']],
  ['fast', { straightToPublishing: 'false', flagForCutting: 'true' }, [...EARLY, 'publish']],
  [USUAL, {}, [...EARLY, 'publish']],
  [USUAL, { straightToPublishing: 'true' }, [...EARLY, 'publish']],
  [USUAL, { watchEarly: 'false' }, [...PREPARE, 'publish']],
  [USUAL, { straightToPublishing: 'false' }, [...PREPARE, 'publish internal']],
  [USUAL, { publishToEngage: 'false' }, PREPARE],
  [USUAL, { straightToPublishing: 'false', publishToEngage: 'false' }, [...PREPARE, 'publish internal']],
  [USUAL, { flagForCutting: 'true' }, ['inspect', 'editor-preview', 'pause', ...EARLY.slice(1), 'publish']],
  [USUAL, { flagForReview: 'true' }, [...PREPARE, 'pause', 'publish']],
  [USUAL, { flagForReview: 'true', straightToPublishing: 'false' }, [...PREPARE, 'pause', 'publish internal']],
])('%s with %j consists of %j', async (name, values, operations) => {
  const definition = (await loadDefinitions(undefined, { unavailable: ['transcribe'] })).resolve(name);
  const configuration = { ...definition.configuration, ...values };
  const taken = definition.operations.filter((each) => !each.if || each.if.test(configuration));
  expect(taken.map((each) => [each.operation, each.configuration.channel].filter(Boolean).join(' '))).toEqual(
    operations,
  );
});

test('captions of the speech are written after the publication, where the site has a service for that', async () => {
  const definitions = await loadDefinitions(undefined);
  for (const id of ['fast', 'publish', USUAL]) {
    const last = definitions.resolve(id).operations.at(-1);
    expect(last, id).toMatchObject({ operation: 'transcribe', optional: true });
    expect(last?.if?.test({ transcribe: 'false', publishToEngage: 'true' })).toBe(false);
  }
  expect(definitions.knows('transcribe')).toBe(true);
  expect((await loadDefinitions(undefined, { unavailable: ['transcribe'] })).knows('transcribe')).toBe(false);
});

test.each(['fast', 'publish', USUAL])('%s publishes a recording even if the editor gets no preview', async (name) => {
  const { operations } = (await loadDefinitions(undefined)).resolve(name);
  const previews = operations.filter(({ configuration }) => configuration.media === 'shortened');
  expect(previews.map(({ operation, optional }) => [operation, optional])).toEqual([['editor-preview', true]]);
});

describe('a definition', () => {
  test("of a site replaces the built-in one of the same id; a folder that is missing is refused by its variable's name", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'own.yaml'), MINIMAL.replace('id: a', 'id: publish'));
    const definitions = await loadDefinitions(folder);
    expect(definitions.resolve('publish').title).toBe('A');
    expect(definitions.resolve('ng-schedule-and-upload').id).toBe(USUAL);
    await expect(loadDefinitions(join(folder, 'nowhere'))).rejects.toThrow(/^WORKFLOWS_DIR is/);
  });

  test('has times and retries in the units of the database', () => {
    const [operation] = parseDefinition('f', `${MINIMAL}    time_limit: 90m\n    retries: 2\n`).operations;
    expect(operation).toMatchObject({ time_limit: 5_400_000, retries: 2 });
  });

  const command = (...lines: string[]) =>
    [MINIMAL.replace('inspect', 'command'), '    configuration:', ...lines]
      .join('\n')
      .replace('\n\n', '\n')
      .replaceAll(/^- /gm, '      ');
  const faultOf = operationCheck(new Set(['inspect', 'command']), new Set(['subtitles.sh']));
  const parse = (source: string) => parseDefinition('f.yaml', source, faultOf);

  test('may run a program of the site', () => {
    expect(parse(command('- program: subtitles.sh', '- output_flavor: captions/source')).id).toBe('a');
  });

  test.each([
    ['a broken file', 'id: [', /^f\.yaml:1: /],
    ['a missing title', 'id: a\noperations:\n  - operation: inspect\n', /^f\.yaml:1: title: /],
    ['an unknown key', `${MINIMAL}    retrys: 2\n`, /^f\.yaml:4: operations\.0: .*retrys/],
    ['a time without unit', `${MINIMAL}    time_limit: 10\n`, /^f\.yaml:5: operations\.0\.time_limit: /],
    ['a broken condition', `${MINIMAL}    if: a &&\n`, /^f\.yaml:5: operations\.0\.if: .*at the end/],
    ['a condition on an unknown key', `${MINIMAL}    if: a\n`, /^f\.yaml:5: operations\.0\.if: .*"a"/],
    ['an unknown operation', MINIMAL.replace('ect', 'ekt'), /^f\.yaml:4: unknown operation "inspekt"/],
    ['an unknown program', command('- tracks: a/*', '- program: missing.sh'), /^f\.yaml:7: .*"missing\.sh"/],
    ['no program', command('- tracks: a/*'), /^f\.yaml:6: .*COMMANDS_DIR/],
    ['a wrong flavor', command('- program: subtitles.sh', '- output_flavor: a'), /^f\.yaml:7: .*"a"/],
  ])('with %s is refused with file and line', (_name, source, message) => {
    expect(() => parse(source)).toThrow(message);
  });
});

test('an asterisk is the type of the track that a result is made of', () => {
  expect(resultFlavor(parseCommandSettings({}), 'presenter/source')).toBe('presenter/processed');
  expect(resultFlavor(parseCommandSettings({ output_flavor: 'captions/source' }), 'a/b')).toBe('captions/source');
  expect(resultFlavor(parseCommandSettings({ output_flavor: 'a/*' }), 'a/b')).toBeUndefined();
});

describe('a condition', () => {
  test.each<[string, Record<string, string>, boolean]>([
    ['a', { a: 'true' }, true],
    ['a', { a: ' TRUE ' }, true],
    ['a', { a: '1' }, false],
    ['a', {}, false],
    ['!a && b || c', { a: 'true', c: 'true' }, true],
    ['!a && (b || c)', { a: 'true', c: 'true' }, false],
    ['a || b && c', { a: 'true' }, true],
  ])('%s with %j is %s', (source, configuration, holds) => {
    expect(compileCondition(source).test(configuration)).toBe(holds);
  });

  test('names the keys it reads', () => {
    expect(compileCondition('!a || (b && a.c-d)').keys).toEqual(['a', 'b', 'a.c-d']);
  });

  test.each(['', '   ', 'a &&', '(a', 'a b', '&& a', 'a == b', '!', ')'])('%j is refused', (source) => {
    expect(() => compileCondition(source)).toThrow(SyntaxError);
  });
});

test('values of a configuration that are no text are kept as their JSON text', () => {
  const configuration = { a: 'b', c: true, d: { e: [1] } };
  expect(parseProcessing(JSON.stringify({ workflow: ' fast ', configuration }))).toEqual({
    workflow: 'fast',
    configuration: { a: 'b', c: 'true', d: '{"e":[1]}' },
  });
});

test('a value with more levels than can be written out is refused', () => {
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  expect(() => parseProcessing(`{"workflow":"fast","configuration":{"a":${deep}}}`)).toThrow(
    'Unable to parse processing configuration',
  );
});

describe('the key of a reason', () => {
  test.each([
    ['The program "a.sh" ended with exit code 3.', 'The program "b.sh" ended with exit code 14.'],
    ['The file breaks off after 12.5 seconds.', 'The file breaks off after 3 seconds.'],
    ["Track '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21' is gone.", "Track 'x' is gone."],
  ])('is the same for %j and %j, and another for other words', (one, other) => {
    expect(reasonKey(one)).toBe(reasonKey(other));
    expect(reasonKey(one)).not.toBe(reasonKey('The file is encrypted.'));
  });

  test('holds no half of a character that stands where it is cut off', () => {
    const key = reasonKey(`${'x'.repeat(299)}🎬`);
    expect([key.length, key.isWellFormed()]).toEqual([300, true]);
  });
});
