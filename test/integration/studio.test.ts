import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';

const PAGE = '<!doctype html><title>Studio</title><script>run()</script><script src="a.js"></script>';
let folder: string;
let app: TestApp;
beforeAll(async () => {
  const outer = await mkdtemp(join(tmpdir(), 'inlet-studio-'));
  folder = join(outer, 'studio');
  await mkdir(join(folder, 'assets'), { recursive: true });
  await writeFile(join(outer, 'secret.js'), 'secret');
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'assets', 'a ü.js'), 'run()');
  await writeFile(join(folder, '.env'), 'secret');
  await symlink(join(outer, 'secret.js'), join(folder, 'link.js'));
  app = await createTestApp((storage) => storage, { STUDIO_DIR: folder });
});
afterAll(async () => {
  await app?.close();
  await rm(join(folder, '..'), { recursive: true, force: true });
});

const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await app.request(path, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

test('the page, at every address that it makes of its own, may use camera and microphone', async () => {
  for (const path of ['/studio/', '/studio/recording', '/studio/index.html']) {
    const { status, headers, text } = await get(path);
    expect([status, text]).toEqual([200, PAGE]);
    expect(headers.get('Permissions-Policy')).toContain('camera=(self)');
    expect(headers.get('Content-Security-Policy')).toMatch(
      /script-src 'self' 'wasm-unsafe-eval' 'sha256-[^']+';/,
    );
  }
  expect((await get('/studio')).headers.get('Location')).toBe('studio/');
});

test('files by their type, again only when they have changed', async () => {
  const { status, headers, text } = await get('/studio/assets/a%20%C3%BC.js');
  expect([status, text, headers.get('Content-Type')]).toEqual([
    200,
    'run()',
    'text/javascript; charset=utf-8',
  ]);
  const again = await get('/studio/assets/a%20%C3%BC.js', { 'If-None-Match': headers.get('ETag') ?? '' });
  expect(again.status).toBe(304);
});

test('settings that fit, unless the folder has its own', async () => {
  expect((await get('/studio/settings.toml')).text).toContain('serverUrl = "/"\nloginProvided = true');
  await writeFile(join(folder, 'settings.toml'), 'own = true');
  expect((await get('/studio/settings.toml')).text).toBe('own = true');
});

test.each([
  '/studio/.env',
  '/studio/link.js',
  '/studio/..%2Fsecret.js',
  '/studio/assets/..%2f..%2fsecret.js',
  '/studio/%2e%2e%5csecret.js',
  '/studio/%00.js',
  '/studio/missing.js',
  '/studio/%E0%A4%A',
])('%s is 404', async (path) => {
  const { status, text } = await get(path);
  expect(status).toBe(404);
  expect(text).not.toContain('secret');
});

test('people who are not signed in are led to where they do', async () => {
  const answer = await app.anonymous('/studio/', { headers: { Accept: 'text/html' } });
  expect(answer.status).toBe(303);
  expect(answer.headers.get('Location')).toContain('sign-in?next=%2Fstudio%2F');
});

test('a folder that is none stops the start', async () => {
  const starting = createTestApp((storage) => storage, { STUDIO_DIR: join(folder, 'nothing') });
  await expect(starting).rejects.toThrow(/STUDIO_DIR is ".*nothing"; allowed is a folder/);
});
