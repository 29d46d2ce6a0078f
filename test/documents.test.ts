import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { VARIABLES } from '../src/config.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');
const documents = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...readdirSync(join(PROJECT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

test('every variable is explained', () => {
  const text = read('docs/configuration.md');
  expect(VARIABLES.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test('every alert leads to a heading that says what to do', () => {
  const rules = read('docker/prometheus/inlet.rules.yml');
  const headings = [...read('docs/operating.md').matchAll(/^#+ (\w+)$/gm)].map(([, name = '']) =>
    name.toLowerCase(),
  );
  const runbooks = [...rules.matchAll(/runbook: docs\/operating\.md#(\w+)/g)].map(([, name = '']) => name);
  expect(runbooks).toHaveLength([...rules.matchAll(/- alert:/g)].length);
  expect(runbooks.filter((name) => !headings.includes(name))).toEqual([]);
});

test.each(documents)('what %s links to is there', (path) => {
  const targets = [...read(path).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(
    ([, target = '']) => target,
  );
  expect(targets.filter((target) => !existsSync(join(PROJECT, dirname(path), target)))).toEqual([]);
});
