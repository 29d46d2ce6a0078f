import { expect, test } from 'vitest';
import { commandFault, commandSettings, resultFlavor } from './command-settings.ts';
import { parseDefinition } from './definitions.ts';

const faultOf = commandFault(new Set(['subtitles.sh']));
const definition = (configuration: string) => `id: a
title: A
operations:
  - operation: command
    configuration:
${configuration}
`;

test('a definition with a program of the site is taken', () => {
  const source = definition('      program: subtitles.sh\n      output_flavor: captions/source');
  expect(parseDefinition('f.yaml', source, new Set(['command']), faultOf).id).toBe('a');
});

test.each([
  [
    'a program that is not there',
    '      tracks: a/*\n      program: missing.sh',
    /^f\.yaml:7: .*"missing\.sh"/,
  ],
  ['no program', '      tracks: a/*', /^f\.yaml:6: .*COMMANDS_DIR/],
  [
    'a flavor that is none',
    '      program: subtitles.sh\n      output_flavor: captions',
    /^f\.yaml:7: .*"captions"/,
  ],
])('%s is refused with file and line', (_name, configuration, message) => {
  const parse = () => parseDefinition('f.yaml', definition(configuration), new Set(['command']), faultOf);
  expect(parse).toThrow(message);
});

test('an asterisk is the type of the track that a result is made of', () => {
  expect(resultFlavor(commandSettings({}), 'presenter/source')).toBe('presenter/processed');
  expect(resultFlavor(commandSettings({ output_flavor: 'captions/source' }), 'a/b')).toBe('captions/source');
  expect(resultFlavor(commandSettings({ output_flavor: 'a/*' }), 'a/b')).toBeUndefined();
});
