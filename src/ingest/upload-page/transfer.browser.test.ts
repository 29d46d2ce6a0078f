import type * as Tus from 'tus-js-client';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { RecordedFile } from './recording.ts';
import { createTransfers, type TransferEvents } from './transfer.browser.ts';

const BASE = 'https://media.example.org/inlet/';
const URL_OF = `${BASE}uploads/1`;

/** The client as it is once it has been started. */
class Upload {
  url: string | null = null;
  aborted: (boolean | undefined)[] = [];
  starts = 0;
  readonly options: Tus.UploadOptions;
  constructor(_: File, options: Tus.UploadOptions) {
    this.options = options;
    uploads.push(this);
  }
  start() {
    this.starts += 1;
  }
  async abort(terminate?: boolean) {
    this.aborted.push(terminate);
  }
  /** Its address is known, by an answer to POST or HEAD. */
  available(url: string) {
    this.url = url;
    this.options.onUploadUrlAvailable?.();
  }
  /** @returns whether it is tried again */
  fails(status: number, body = ''): boolean {
    const originalResponse = status ? { getStatus: () => status, getBody: () => body } : null;
    const error = Object.assign(new Error('tus'), { originalResponse }) as Tus.DetailedError;
    const again = this.options.onShouldRetry?.(error, 0, this.options) ?? false;
    if (!again) this.options.onError?.(error);
    return again;
  }
}

let uploads: Upload[];
beforeEach(() => {
  uploads = [];
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

function begin(url?: string, file = new File(['four'], 'camera.mp4')) {
  const defaultOptions = { httpStack: {} };
  const start = createTransfers({ Upload, defaultOptions } as unknown as typeof Tus, BASE);
  const told: unknown[][] = [];
  const tell =
    (name: string) =>
    (...what: unknown[]) =>
      void told.push([name, ...what]);
  const target = { field: 'presenter', name: file.name, size: file.size, url } as RecordedFile;
  const events: TransferEvents = {
    onUrl: (known) => {
      target.url = known;
      told.push(['url', known]);
    },
    onProgress: tell('progress'),
    onWaiting: tell('waiting'),
    onDone: tell('done'),
    onFault: tell('fault'),
  };
  const transfer = start(file, target, events);
  return { transfer, told, upload: uploads[0] as Upload };
}

test('an upload is told by the address under which the page came, and begun once', () => {
  const { upload, told } = begin();
  expect(upload.options.endpoint).toBe(`${BASE}uploads`);
  upload.available('http://behind.a.proxy/uploads/1');
  expect(told).toEqual([['url', URL_OF]]);
  expect(upload.options.endpoint).toBeNull();
});

test('one that is stopped while it is being begun is given up as soon as it is there', () => {
  const { upload, transfer, told } = begin();
  transfer.stop();
  upload.available(URL_OF);
  expect(upload.aborted).toEqual([true]);
  expect(told).toEqual([]);
});

test('one that was there before stays, however early it is stopped', () => {
  const { upload, transfer } = begin(URL_OF);
  transfer.stop();
  upload.available(URL_OF);
  expect(upload.aborted).toEqual([false]);
});

test('one that has been told of stays, also when it is stopped while it asks again', () => {
  const { upload, transfer } = begin();
  upload.available(URL_OF);
  upload.fails(503);
  transfer.nudge();
  transfer.stop();
  upload.available(URL_OF);
  expect(upload.aborted).not.toContain(true);
});

test.each([408, 409, 423, 425, 429, 460, 500, 503])('after %i it tries again', (status) => {
  const { upload, told } = begin(URL_OF);
  expect(upload.fails(status, 'Why')).toBe(true);
  expect(told).toEqual([['waiting', status === 409 || status === 423 ? '' : 'Why']]);
});

test.each([400, 401, 403, 404, 410, 413])('after %i it does not', (status) => {
  const { upload, told } = begin(URL_OF);
  expect(upload.fails(status, 'Why\n')).toBe(false);
  upload.fails(status);
  expect(told).toEqual([['fault', status, 'Why']]);
});

test('a line on which nothing moves is given up, and what waits for the answer is not', () => {
  const { upload, told } = begin(URL_OF);
  upload.options.onProgress?.(2, 4);
  vi.advanceTimersByTime(40_000);
  expect(upload.starts).toBe(1);
  vi.advanceTimersByTime(10_000);
  expect(upload.starts).toBe(2);
  expect(told.at(-1)).toEqual(['waiting', '']);
  upload.options.onProgress?.(4, 4);
  vi.advanceTimersByTime(200_000);
  expect(upload.starts).toBe(2);
});

test('a file that cannot be read any more is told of', async () => {
  const file = new File(['four'], 'camera.mp4');
  vi.spyOn(file, 'slice').mockReturnValue({
    arrayBuffer: () => Promise.reject(new Error()),
  } as unknown as Blob);
  const { upload, told } = begin(URL_OF, file);
  upload.fails(0);
  await vi.advanceTimersByTimeAsync(0);
  expect(told.at(-1)).toEqual(['fault', 0, expect.stringContaining('“camera.mp4” cannot be read')]);
});
