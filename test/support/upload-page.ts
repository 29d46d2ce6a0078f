import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, CDPSession, Locator, Page } from 'playwright-core';
import { bytes } from './bytes.ts';
import { clipFolder } from './clips.ts';
import { AUTOFOCUS, faultsOf } from './page-faults.ts';

/** The page for uploads in a browser, and what must not have happened there. */
export interface OpenUploadPage {
  page: Page;
  context: BrowserContext;
  /** Messages on the console but of requests that nobody answered, errors, and requests to other hosts. */
  faults: string[];
  /** `Upload-Offset` of every request that sent more of a file. */
  offsets: number[];
  /** Whether the browser was asked to warn before it left the page; it leaves. */
  warnings: string[];
  /** The card of a recording. */
  card(title: string): Locator;
}

/** Browsers say on the console of every request that it failed, and of every refusal. */
const FAILED = /^Failed to load resource: /;

/** Opens the page and signs in on the way. @param account its name and password */
export async function openUploadPage(
  browser: Browser,
  url: string,
  { username = 'admin', password = 'opencast', ...look }: UploadPageOptions = {},
): Promise<OpenUploadPage> {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...look });
  const page = await context.newPage();
  const faults = faultsOf(page, new URL(url).origin, (text) => FAILED.test(text) || AUTOFOCUS.test(text));
  const [offsets, warnings]: [number[], string[]] = [[], []];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') offsets.push(Number(request.headers()['upload-offset']));
  });
  page.on('dialog', (dialog) => {
    warnings.push(dialog.type());
    void dialog.accept();
  });
  await page.goto(`${url}/upload`);
  await signIn(page, username, password);
  await page.waitForURL(`${url}/upload`);
  const card = (title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
  return { page, context, faults, offsets, warnings, card };
}

export interface UploadPageOptions {
  username?: string;
  password?: string;
  colorScheme?: 'light' | 'dark';
  viewport?: { width: number; height: number };
  reducedMotion?: 'reduce';
}

/** Fills the page in on which one signs in. */
export async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}

const sessions = new WeakMap<Page, CDPSession>();

/** Lets a page send no more than so many bytes in a second, or as many as it can. */
export async function throttle({ page, context }: OpenUploadPage, bytesPerSecond = -1): Promise<void> {
  const session = sessions.get(page) ?? (await context.newCDPSession(page));
  sessions.set(page, session);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: bytesPerSecond,
  });
}

/** Drops files of these names on the page. */
export async function dropFiles(page: Page, ...names: string[]): Promise<void> {
  await page.evaluate((all) => {
    const dataTransfer = new DataTransfer();
    for (const name of all) dataTransfer.items.add(new File(['x'], name));
    for (const type of ['dragenter', 'dragover', 'drop']) {
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
  }, names);
}

/** A file with so many bytes that are no recording. @returns its path */
export async function fileOf(name: string, size: number): Promise<string> {
  const path = join(clipFolder(), name);
  await writeFile(path, bytes(size));
  return path;
}
