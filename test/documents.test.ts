import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { REFERENCE, UNLISTED, WINGS } from '#app/routes.ts';
import { VARIABLES } from '#platform/config/environment.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');
/** What the first group of the pattern finds in a file. */
const matches = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map(([, found = '']) => found);
const documents = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
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
  const headings = matches('docs/operating.md', /^#+ (\w+)$/gm).map((name) => name.toLowerCase());
  const runbooks = matches('docker/prometheus/inlet.rules.yml', /runbook: docs\/operating\.md#(\w+)/g);
  expect(runbooks).toHaveLength([...rules.matchAll(/- alert:/g)].length);
  expect(runbooks.filter((name) => !headings.includes(name))).toEqual([]);
});

/** Returns the anchors of a document's headings, as GitHub names them. */
const anchorsOf = (path: string) =>
  matches(path, /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

test.each(documents)('the links of %s lead to files and headings that exist', (path) => {
  const links = matches(path, /\]\((?!https?:)([^)]+)\)/g).map((link) => link.split('#'));
  expect(links.filter(([target = '']) => !existsSync(join(PROJECT, dirname(path), target)))).toEqual([]);
  const lost = links.filter(
    ([target, anchor]) => anchor && !anchorsOf(target ? join(dirname(path), target) : path).includes(anchor),
  );
  expect(lost).toEqual([]);
});

test('SECURITY.md names every route that needs no account, and no other', () => {
  const [, named = ''] = /^Every route requires an account, except these:\n(.*?)\.$/ms.exec(read('SECURITY.md')) ?? [];
  const routes = [...named.matchAll(/`(?:([A-Z]+) )?(\/[^`]*)`/g)].map(([text, method, path = '']) => ({
    text,
    method: method?.toLowerCase(),
    path: new RegExp(`^${path.replace('/*', '/.+')}$`),
  }));
  const endpoints = [
    ...REFERENCE.flatMap((group) => group.endpoints),
    ...WINGS.flatMap((wing) => wing.endpoints),
    ...UNLISTED,
  ].map((endpoint) => {
    const { method, path, access } = endpoint;
    const by = routes.filter((route) => route.path.test(path) && (route.method ?? method) === method);
    return { name: `${method} ${path}`, isOpen: access === 'public', by };
  });
  const open = endpoints.filter(({ isOpen }) => isOpen).map(({ name }) => name);
  expect(endpoints.filter(({ by }) => by.length > 0).map(({ name }) => name)).toEqual(open);
  const used = new Set(endpoints.flatMap(({ by }) => by));
  // The files of a folder, which are no endpoints.
  expect(routes.filter((route) => !used.has(route)).map(({ text }) => text)).toEqual(['`/studio/*`']);
});

test('SECURITY.md states the limit on connections', () => {
  const [, limit = ''] = /\bconnections: ([\d_]+)/.exec(read('src/platform/http/server/serve.ts')) ?? [];
  expect(read('SECURITY.md')).toContain(`| connections | ${limit.replace('_', ',')} |`);
});

test('the files that commands of docs/operating.md use exist', () => {
  const commands = matches('docs/operating.md', /```sh\n(.*?)```/gs);
  const files = [...commands.join('\n').matchAll(/\/opt\/inlet\/(\S+)/g)].map(([, path = '']) => path);
  const units = readdirSync(join(PROJECT, 'docker/systemd'))
    .filter((name) => name.endsWith('.service'))
    .map((name) => read(`docker/systemd/${name}`));
  const started = units.map((unit) => /^ExecStart=\S+ (\S+) (\w+)$/m.exec(unit));
  expect(started.map((match) => match?.[2])).toEqual(['api', 'worker']);
  const named = [...files.filter((path) => !path.includes('*')), ...started.map((match) => match?.[1] ?? '')];
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
});
