/**
 * `npm run screenshots`: runs the demo with a lecture of its own, adds recordings and capture agents, and writes pictures
 * of the pages to docs/images/. Needs ffmpeg and Chromium (CHROMIUM_PATH).
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../test/support/launch-browser.ts';
import { filmLecture } from './lecture.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const IMAGES = join(PROJECT, 'docs/images');
const VIEWPORT = { width: 1280, height: 960 };
const LARGEST = 150 * 1024;
const ADMIN = { username: 'admin', password: 'opencast' };
const Authorization = `Basic ${Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64')}`;

const folder = await mkdtemp(join(tmpdir(), 'inlet-screenshots-'));
const browser = await launchBrowser();
try {
  const tracks = await filmLecture(browser, folder, 40);
  await withDemo(tracks, async ({ serving, watch }) => {
    await fillServer(serving, tracks);
    await mkdir(IMAGES, { recursive: true });
    await photographDashboard(browser, serving);
    await photographWatchPage(browser, watch);
  });
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}

/** Runs the demo until the action is done. The action gets the addresses that the demo prints. */
async function withDemo(
  tracks: string[],
  action: (addresses: { serving: string; watch: string }) => Promise<void>,
): Promise<void> {
  const demo = spawn(process.execPath, [join(PROJECT, 'src/cli/demo.ts'), ...tracks], {
    cwd: PROJECT,
    env: { ...process.env, DATA_DIR: join(folder, 'data'), ADMIN_PASSWORD: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => demo.once('exit', () => resolve()));
  try {
    let printed = '';
    for await (const line of createInterface(demo.stdout)) {
      printed += `${line}\n`;
      if (line.startsWith('Serving until')) break;
    }
    const [, serving] = /^Serving at (\S+)/m.exec(printed) ?? [];
    const [, watch] = /^Watch +(\S+)/m.exec(printed) ?? [];
    if (!serving || !watch) throw new Error(`The demo published nothing:\n${printed}`);
    demo.stdout.resume();
    await action({ serving, watch });
  } finally {
    demo.kill('SIGINT');
    await exited;
  }
}

/** Adds what a server has on a busy day: agents that record or are silent, a damaged file, and recordings in progress. */
async function fillServer(serving: string, [presenter = '', slides = '']: string[]): Promise<void> {
  const hour = 3_600_000;
  for (const [agent, state, title, from, to] of [
    ['hall-1', 'capturing', 'Linear algebra', -0.2, 1.3],
    ['hall-2', 'idle', 'Organic chemistry', 2, 3.5],
    ['seminar-room', 'idle', 'Microeconomics', 4, 5.5],
  ] as const) {
    const time = (hours: number) => new Date(Date.now() + hours * hour).toISOString().replace(/\.\d+/, '');
    const event = await post(serving, '/api/events', {
      ...eventFields(title),
      scheduling: JSON.stringify({ agent_id: agent, start: time(from), end: time(to), inputs: ['default'] }),
    });
    await post(serving, `/capture-admin/agents/${agent}`, { state, address: `http://${agent}.example.org` });
    if (state === 'capturing') {
      const { identifier } = JSON.parse(event) as { identifier: string };
      await post(serving, `/capture-admin/recordings/${identifier}`, { state });
    }
  }
  const damaged = join(folder, 'damaged.mp4');
  const whole = await readFile(presenter);
  await writeFile(damaged, whole.subarray(0, whole.length / 3));
  for (const [title, file] of [
    ['Statistics II', damaged],
    ['History of science', presenter],
    ['Thermodynamics', slides],
    ['Compiler construction', presenter],
  ] as const) {
    await post(serving, '/api/events', eventFields(title), file);
    // The damaged file fails first.
    if (file === damaged) await new Promise((resolve) => setTimeout(resolve, 4_000));
  }
}

function eventFields(title: string): Record<string, string> {
  const fields = [
    { id: 'title', value: title },
    { id: 'creator', value: ['Ada Lovelace'] },
  ];
  return {
    acl: JSON.stringify([{ role: 'ROLE_ANONYMOUS', action: 'read' }]),
    metadata: JSON.stringify([{ flavor: 'dublincore/episode', fields }]),
    processing: JSON.stringify({ workflow: 'schedule-and-upload' }),
  };
}

/** Posts a form as the administrator and returns the body of the response. */
async function post(serving: string, path: string, fields: Record<string, string>, file?: string) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  if (file) body.set('presenter', new File([await readFile(file)], basename(file)));
  const response = await fetch(`${serving}${path}`, { method: 'POST', headers: { Authorization }, body });
  const answer = await response.text();
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${answer}`);
  return answer;
}

async function photographDashboard(browser: Browser, serving: string): Promise<void> {
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
  await page.goto(`${serving}/sign-in?next=/admin`);
  await page.fill('[name=username]', ADMIN.username);
  await page.fill('[name=password]', ADMIN.password);
  await page.click('main button');
  await page.goto(`${serving}/admin`);
  await page.waitForTimeout(2_000);
  await photograph(page, 'dashboard');
}

async function photographWatchPage(browser: Browser, watch: string): Promise<void> {
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
  await page.goto(watch);
  await page
    .locator('video')
    .first()
    .evaluate(async (video: HTMLVideoElement) => {
      video.muted = true;
      await video.play();
    });
  await page.waitForTimeout(6_000);
  await photograph(page, 'watch');
}

async function photograph(page: Page, name: string): Promise<void> {
  const path = join(IMAGES, `${name}.png`);
  await page.screenshot({ path });
  const { size } = await stat(path);
  if (size > LARGEST) throw new Error(`${path} has ${size} bytes; allowed are ${LARGEST}.`);
  console.log(`${path}: ${Math.round(size / 1024)} KiB`);
}
