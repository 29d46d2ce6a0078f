import { expect, test } from 'vitest';
import { denoFlags, type PermissionInput } from './permissions.ts';

const config: PermissionInput['config'] = {
  dataDir: '/srv/data',
  workflowsDir: undefined,
  metadataDir: undefined,
  studioDir: undefined,
  editorDir: undefined,
  operations: { commandsDir: undefined },
};
const tools = { ffmpeg: '/usr/bin/ffmpeg', ffprobe: '/usr/bin/ffprobe' };
const input: PermissionInput = {
  config,
  project: '/srv/inlet',
  temporaryFolder: '/srv/data/tmp',
  listen: ['127.0.0.1:8080'],
  tools: undefined,
  commands: [],
  endpoints: [{ hosts: ['127.0.0.1:5432'], sockets: [], files: [] }],
  codeCaches: ['/srv/data/deno', '/srv/data/node'],
};

const flags = (changes: Partial<PermissionInput> = {}) => {
  const all = denoFlags({ ...input, ...changes });
  return Object.fromEntries(all.map((flag) => flag.split(/=(.*)/s).slice(0, 2))) as Record<string, string>;
};

test('nothing is allowed without saying what', () => {
  for (const [name, value] of Object.entries(flags())) {
    if (name.startsWith('--allow')) expect(value, name).not.toBe('');
  }
  expect(Object.keys(flags())).not.toContain('-A');
  expect(Object.keys(flags())).not.toContain('--allow-ffi');
  expect(Object.keys(flags())).not.toContain('--allow-import');
});

test('a process with tools may start these and no others, one without none at all', () => {
  expect(flags()).not.toHaveProperty('--allow-run');
  expect(flags({ tools })['--allow-run']).toBe('/usr/bin/ffmpeg,/usr/bin/ffprobe');
  // It makes sure that they are there.
  const read = flags({ tools })['--allow-read']?.split(',');
  expect(read).toEqual(expect.arrayContaining(['/usr/bin/ffmpeg', '/usr/bin/ffprobe']));
  // Any may write to the data folder and the temporary folder only.
  expect(flags()['--allow-write']).toBe('/srv/data,/srv/data/tmp');
});

test("the database's files and password, and the compiled code, stay closed although the data folder is open", () => {
  const { '--deny-read': read = '', '--deny-write': write } = flags();
  expect(write).toBe(read);
  expect(read.split(',')).toEqual(
    expect.arrayContaining(['/srv/data/postgres', '/srv/data/postgres.secret', '/srv/data/deno']),
  );
});

test('the network is what is listened on and what is configured, and all of it for a process with tools, which delivers webhooks', () => {
  expect(flags({ tools })).toHaveProperty('--allow-net', undefined);
  expect(flags()['--allow-net']).toBe('127.0.0.1:8080,127.0.0.1:5432');
  expect(flags({ listen: [] })['--allow-net']).toBe('127.0.0.1:5432');
});

test('a database behind a socket needs the socket as a file, too', () => {
  const endpoints = [{ hosts: [], sockets: ['/run/pg/.s.PGSQL.5432'], files: ['/etc/ca.pem'] }];
  const given = flags({ endpoints });
  expect(given['--allow-net']).toBe('127.0.0.1:8080,unix:/run/pg/.s.PGSQL.5432');
  expect(given['--allow-read']).toMatch(/,\/etc\/ca\.pem,\/run\/pg\/\.s\.PGSQL\.5432$/);
  expect(given['--allow-write']).toMatch(/,\/run\/pg\/\.s\.PGSQL\.5432$/);
});

test("the site's own definitions and catalogs may be read, not written", () => {
  const own = { workflowsDir: '/etc/workflows', metadataDir: '/etc/metadata' };
  const given = flags({ config: { ...config, ...own } });
  expect(given['--allow-read']?.split(',')).toEqual(expect.arrayContaining(Object.values(own)));
  expect(given['--allow-write']).not.toContain('/etc/');
});

test('variables that are not listed look unset', () => {
  expect(flags()['--allow-env']?.split(',')).toEqual(expect.arrayContaining(['PORT', 'DATABASE_URL']));
  expect(flags()).toHaveProperty('--ignore-env');
});

test('a comma in the name of a folder above the project does not become two paths', () => {
  const project = '/srv/a,b/inlet';
  const folders = { temporaryFolder: '/tmp', codeCaches: [`${project}/data/deno`] };
  const own = { ...input, project, config: { ...config, dataDir: `${project}/data` }, ...folders };
  const given = denoFlags(own);
  expect(given).toContain('--allow-write=./data,/tmp');
  expect(given.join('\n')).not.toContain('a,b');
});

test('a comma that cannot be avoided is refused, for Deno would allow something else', () => {
  const comma = () => flags({ config: { ...config, dataDir: '/srv/a,b' } });
  expect(comma).toThrow('Deno does not support the comma in /srv/a,b');
});

test('a process with tools may run the programs of the site as well, and others may not', () => {
  const commands = ['/srv/commands/subtitles.sh', '/usr/bin/kill'];
  const site = { config: { ...config, operations: { commandsDir: '/srv/commands' } }, commands };
  expect(flags({ ...site, tools })['--allow-run']).toBe(
    '/usr/bin/ffmpeg,/usr/bin/ffprobe,/srv/commands/subtitles.sh,/usr/bin/kill',
  );
  expect(flags(site)).not.toHaveProperty('--allow-run');
  expect(flags(site)['--allow-read']).not.toContain('/srv/commands');
});
