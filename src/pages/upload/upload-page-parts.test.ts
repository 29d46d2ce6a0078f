import type * as Tus from 'tus-js-client';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Api, RequestError } from './browser/api.js';
import { formatDuration, formatPercent, formatSize } from './browser/card-text.js';
import { EventTracker } from './browser/event-tracker.js';
import { guessFields, guessTitle } from './browser/file-names.js';
import { FileTransfer, type TransferEvents } from './browser/file-transfer.js';
import { RateMeter, type RecordingEvents, RecordingTransfers } from './browser/recording-transfers.js';
import { SavedRecordings } from './browser/saved-recordings.js';
import type { FileState, QueueItem, SavedRecording, TrackField } from './upload-types.ts';

const BASE = 'https://media.example.org/inlet/';
const URL_OF = `${BASE}uploads/1`;

const fakeTimers = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
};
/** Collects the events of a part of the page, by their names. */
function collector() {
  const told: unknown[][] = [];
  const tell =
    (name: string) =>
    (...details: unknown[]) =>
      void told.push([name, ...details]);
  const onFailure = ({ status, message }: RequestError) => tell('failure')(status, message);
  const events = { onProgress: tell('progress'), onWaiting: tell('waiting'), onFailure };
  return { told, tell, events };
}

describe('requests to the API', () => {
  const api = new Api(BASE, { account: 'müller', role: 'ROLE_USER_M_LLER' });

  const answer = (status: number, headers = {}, text = '') => new Response(text, { status, headers });
  let answers: Response[];
  let asked: { url: string; method: string; headers: Headers }[];
  beforeEach(() => {
    answers = [];
    asked = [];
    vi.stubGlobal('fetch', async (url: URL, { method = 'GET', headers }: RequestInit) => {
      asked.push({ url: url.href, method, headers: new Headers(headers) });
      const given = answers.shift();
      if (!given) throw new Error('nothing answers');
      return given;
    });
    onTestFinished(() => void vi.unstubAllGlobals());
  });

  test('what another account asks for is refused as if nobody had signed in', async () => {
    answers = ['m%C3%BCller', 'grace'].map((name) => answer(200, { 'Inlet-Account': name }));
    await api.checkAccount();
    await expect(api.checkAccount()).rejects.toMatchObject({ status: 401, isTransient: false });
    expect(asked[0]).toMatchObject({ url: `${BASE}upload`, method: 'HEAD' });
  });

  test('the state is that of the event', async () => {
    answers = [Response.json({ processing_state: 'RUNNING' })];
    expect(await api.processingState('a/b')).toBe('RUNNING');
    expect(asked[0]?.url).toBe(`${BASE}api/events/a%2Fb`);
  });

  test.each([
    [undefined, 0, true, 'The server does not answer.'],
    [answer(503, { 'Content-Type': 'text/plain' }, 'Later.\n'), 503, true, 'Later.'],
    [answer(423), 423, true, 'The server answered 423.'],
    [answer(400, { 'Retry-After': '1' }), 400, true, 'The server answered 400.'],
    [answer(400), 400, false, 'The server answered 400.'],
  ])('a fault says whether it is transient (%#)', async (given, status, isTransient, message) => {
    if (given) answers = [given];
    await expect(api.checkAccount()).rejects.toMatchObject({ status, isTransient, message });
  });

  test.each([404, 410])('an upload that answers %i is not there', async (status) => {
    answers = [answer(status), answer(status)];
    expect(await api.uploadOffset(`${BASE}uploads/1`)).toBeUndefined();
    await api.deleteUpload(`${BASE}uploads/1`);
    expect(asked.map(({ method }) => method)).toEqual(['HEAD', 'DELETE']);
  });
});

describe('following an event', () => {
  beforeEach(fakeTimers);
  const fault = (status: number) => new RequestError(status, 'Why');

  /** Follows an event whose state goes through these; the last one stays. */
  async function follow(states: (string | RequestError)[], api: Partial<Api> = {}, minutes = 10) {
    const conditions: string[] = [];
    const failures: unknown[] = [];
    const processingState = vi.fn(async () => {
      const state = states[Math.min(processingState.mock.calls.length, states.length) - 1] ?? '';
      if (typeof state !== 'string') throw state;
      return state;
    });
    const item = { recording: { eventId: '1' } } as QueueItem;
    const tracker = new EventTracker(
      {
        ...{ createEvent: vi.fn(), uploadOffset: vi.fn(), checkAccount: async () => undefined },
        ...{ processingState, watchUrl: async () => 'https://media.example.org/watch/1', ...api },
      },
      { change: (_, condition) => conditions.push(condition), fail: (_, error) => failures.push(error) },
    );
    void tracker.follow(item);
    await vi.advanceTimersByTimeAsync(minutes * 60_000);
    return { conditions, failures, item, processingState, polls: processingState.mock.calls.length };
  }

  test('continues until it can be watched, also after a fault that may pass', async () => {
    const { conditions, item, polls } = await follow(['', 'RUNNING', fault(503), fault(0), 'SUCCEEDED']);
    expect(conditions).toEqual([...Array(5).fill('processing'), 'over']);
    expect(item.watch).toBe('https://media.example.org/watch/1');
    expect(polls).toBe(5);
  });

  test('asks less and less often while nothing happens', async () => {
    const { polls } = await follow(['RUNNING'], {}, 60);
    expect(polls).toBeGreaterThan(120);
    expect(polls).toBeLessThan(140);
  });

  test.each<[string | RequestError, string]>([
    ['FAILED', 'Processing failed.'],
    ['STOPPED', 'Processing was stopped.'],
    ['SUCCEEDED', 'Nothing is published'],
    [fault(404), 'was deleted'],
    [fault(403), 'may not see'],
  ])('is over with nothing to watch: %s (%s)', async (state, sentence) => {
    const unpublished = { watchUrl: async () => undefined };
    const { conditions, item } = await follow([state], typeof state === 'string' ? unpublished : {});
    expect(conditions).toEqual(['processing', 'over']);
    expect(item.recording).toMatchObject({ stage: 'over', outcome: expect.stringContaining(sentence) });
  });

  test.each([401, 403, 404])('after %i an account signs in that may not see the event', async (status) => {
    const checkAccount = () => Promise.reject(fault(401));
    const { failures, polls } = await follow([fault(status)], { checkAccount });
    expect([failures, polls]).toEqual([[expect.objectContaining({ status: 401 })], 1]);
  });

  test('stops when the recording is removed', async () => {
    const { item, processingState } = await follow(['RUNNING'], {}, 1);
    item.attempt = undefined;
    processingState.mockClear();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(processingState).not.toHaveBeenCalled();
  });
});

describe('guesses from names of files', () => {
  test.each([
    ['lecture.mp4', 'presenter'],
    ['lecture_slides.mp4', 'presentation'],
    ['a.mp4, b.mp4', 'presenter presentation'],
    ['2026 slides.mp4, 2026 camera.mp4', 'presentation presenter'],
    ['x-screen.mp4, x.mp4', 'presentation presenter'],
    ['x.mp4, x-CAMERA.mp4', 'presentation presenter'],
    ['x-slides-1.mp4, x-slides-2.mp4', 'presenter presentation'],
    // A word that only holds another.
    ['camembert.mp4, cam.mp4', 'presentation presenter'],
  ])('%s come as %s', (names, expected) => {
    expect(guessFields(names.split(', '))).toEqual(expected.split(' '));
  });

  test.each([
    [['Analysis_I-lecture-01.mp4'], 'Analysis I lecture 01'],
    [['Analysis I 2026-11-20 camera.mp4', 'Analysis I 2026-11-20 slides.mp4'], 'Analysis I 2026-11-20'],
    [['Übung.3.presenter.mkv'], 'Übung.3'],
    [['camera.mp4', 'Optics.mp4'], 'Optics'],
    [['camera.mp4'], ''],
    [['First person shooters.webm'], 'First person shooters'],
    [[], ''],
  ])('%j are called "%s"', (names, expected) => {
    expect(guessTitle(names)).toBe(expected);
  });
});

describe('the files of a recording', () => {
  function laneOf(...files: File[]) {
    const transfers: (TransferEvents & { field: TrackField; done: string[] })[] = [];
    const lane = new RecordingTransfers((_, { field }, events) => {
      const done: string[] = [];
      transfers.push({ ...events, field, done });
      return { stop: () => void done.push('stop'), retryNow: () => void done.push('retry') };
    });
    const fields: TrackField[] = ['presenter', 'presentation'];
    const recorded = files.map(({ name, size, lastModified }, i) => {
      const state = { url: undefined, sent: 0, done: false, lost: false };
      return { field: fields[i], name, size, lastModified, ...state };
    });
    const item = { recording: { files: recorded } } as unknown as QueueItem;
    const { told, tell, events: others } = collector();
    const events: RecordingEvents = { ...others, onUrl: tell('url'), onArrived: tell('arrived') };
    const start = () => lane.start(item, events);
    return { lane, item, told, start, transfers, recorded };
  }
  const file = (name: string, lastModified = 1, text = 'four') => new File([text], name, { lastModified });
  /** Both files of a recording on their way. */
  function both() {
    const scene = laneOf(file('camera.mp4'), file('slides.mp4'));
    scene.lane.addFiles(scene.item, [file('slides.mp4'), file('camera.mp4')]);
    scene.start();
    return scene;
  }

  test('files are known by name, size and time', () => {
    const { lane, item, recorded } = laneOf(file('camera.mp4'), file('slides.mp4'));
    const others = [file('camera.mp4', 2), file('camera.mp4', 1, 'fives'), file('Camera.mp4')];
    expect(lane.addFiles(item, others)).toEqual([]);
    expect(lane.missingFile(item)).toBe(recorded[0]);
    const own = file('camera.mp4');
    expect(lane.addFiles(item, [...others, own])).toEqual([own]);
    expect(lane.missingFile(item)).toBe(recorded[1]);
  });

  test('both files go at once, and one that has arrived no more', () => {
    const { lane, item, told, start, transfers, recorded } = both();
    expect(transfers.map(({ field }) => field)).toEqual(['presenter', 'presentation']);
    transfers[0]?.onUrl(URL_OF);
    transfers[0]?.onDone();
    expect(recorded[0]).toMatchObject({ url: URL_OF, done: true, sent: 4 });
    lane.retryNow();
    lane.stop(item);
    expect(transfers.map(({ done }) => done)).toEqual([[], ['retry', 'stop']]);
    start();
    expect(transfers.slice(2).map(({ field }) => field)).toEqual(['presentation']);
    expect(told).toEqual([['url'], ['arrived']]);
  });

  test('a fault of one stops the other; an upload that is not there keeps its address', () => {
    const { lane, item, told, transfers, recorded } = both();
    transfers[0]?.onUrl(URL_OF);
    transfers[0]?.onProgress(2);
    transfers[0]?.onFailure(new RequestError(404, 'There is no such upload.'));
    expect(transfers.map(({ done }) => done)).toEqual([['stop'], ['stop']]);
    expect(told.at(-1)).toEqual(['failure', 404, 'There is no such upload.']);
    expect(recorded[0]).toMatchObject({ url: URL_OF, sent: 2, lost: true });
    expect(lane.missingFile(item)).toBeUndefined();
  });

  test('a file that cannot be read any more has to be given again', () => {
    const { lane, item, transfers, recorded } = both();
    transfers[0]?.onFailure(new RequestError(0, 'It cannot be read.'));
    expect(lane.missingFile(item)).toBe(recorded[0]);
  });
});

describe('the rate of a transfer', () => {
  test('the rate is that of the last seconds, and unknown before there are any', () => {
    const meter = new RateMeter();
    expect(meter.add(0, 0)).toBeUndefined();
    for (let at = 500; at < 20_000; at += 500) meter.add(at, at);
    expect(meter.add(20_000, 20_000)).toBeCloseTo(1000);
    for (let at = 20_500; at < 40_000; at += 500) meter.add(20_000 + 3 * (at - 20_000), at);
    expect(meter.add(80_000, 40_000)).toBeCloseTo(3000);
  });

  test('what has to be sent again makes no rate below zero', () => {
    const meter = new RateMeter();
    meter.add(0, 0);
    meter.add(50_000, 2_000);
    expect(meter.add(10_000, 3_000)).toBeUndefined();
    expect(meter.add(12_000, 5_000)).toBe(1000);
  });
});

describe('saved recordings', () => {
  let kept: Record<string, string>;
  beforeEach(() => {
    kept = {};
    const methods = {
      getItem: (key: string) => kept[key] ?? null,
      setItem: (key: string, value: string) => void Object.assign(kept, { [key]: value }),
      removeItem: (key: string) => void delete kept[key],
    };
    const ownKeys = () => Object.keys(kept);
    const getOwnPropertyDescriptor = () => ({ enumerable: true, configurable: true });
    vi.stubGlobal('localStorage', new Proxy(methods, { ownKeys, getOwnPropertyDescriptor }));
    onTestFinished(() => void vi.unstubAllGlobals());
  });
  const recording = (id: string) => ({ id, files: [] }) as unknown as SavedRecording;
  const ids = (account: string, base = BASE) => new SavedRecordings(base, account).list().map(({ id }) => id);

  test('what is kept comes back in the order of time until it is removed', () => {
    const records = new SavedRecordings(BASE, 'ada');
    for (const id of ['2', '1', '3']) records.save(recording(id));
    records.remove('3');
    expect(ids('ada')).toEqual(['1', '2']);
  });

  test('an account and a server have their own, whatever they are called', () => {
    new SavedRecordings(BASE, 'a b').save(recording('1'));
    new SavedRecordings(`${BASE}b/`, 'a').save(recording('2'));
    new SavedRecordings(BASE, 'a').save(recording('3'));
    expect([ids('a'), ids('a b'), ids('a', `${BASE}b/`)]).toEqual([['3'], ['1'], ['2']]);
  });

  test('what cannot be read is left out', () => {
    new SavedRecordings(BASE, 'ada').save(recording('1'));
    const [key = ''] = Object.keys(kept);
    kept[`${key}x`] = '{';
    kept[`${key}y`] = '{"id":"y"}';
    expect(ids('ada')).toEqual(['1']);
  });

  test('a browser that keeps nothing is no fault', () => {
    vi.stubGlobal('localStorage', undefined);
    new SavedRecordings(BASE, 'ada').save(recording('1'));
    expect(ids('ada')).toEqual([]);
  });
});

describe('a transfer', () => {
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
    fakeTimers();
  });

  function begin(url?: string, file = new File(['four'], 'camera.mp4')) {
    const defaultOptions = { httpStack: {} };
    const tus = { Upload, defaultOptions } as unknown as typeof Tus;
    const { told, tell, events: others } = collector();
    const target = { field: 'presenter', name: file.name, size: file.size, url } as FileState;
    const onUrl = (known: string) => {
      target.url = known;
      told.push(['url', known]);
    };
    const transfer = new FileTransfer(tus, BASE, file, target, { ...others, onUrl, onDone: tell('done') });
    return { transfer, told, upload: uploads[0] as Upload };
  }

  test('an upload is told by the address under which the page came, and begun once', () => {
    const { upload, told } = begin();
    expect(upload.options.endpoint).toBe(`${BASE}uploads`);
    upload.available('http://behind.a.proxy/uploads/1');
    expect(told).toEqual([['url', URL_OF]]);
    expect(upload.options.endpoint).toBeNull();
  });

  test.each([
    ['is being begun is given up as soon as it is there', undefined, true],
    ['was there before stays, however early', URL_OF, false],
  ])('one that is stopped while it %s', (_, url, terminated) => {
    const { upload, transfer, told } = begin(url);
    transfer.stop();
    upload.available(URL_OF);
    expect([upload.aborted, told]).toEqual([[terminated], []]);
  });

  test('one that has been told of stays, also when it is stopped while it asks again', () => {
    const { upload, transfer } = begin();
    upload.available(URL_OF);
    upload.fails(503);
    transfer.retryNow();
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
    expect(told).toEqual([['failure', status, 'Why']]);
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
    const arrayBuffer = () => Promise.reject(new Error());
    vi.spyOn(file, 'slice').mockReturnValue({ arrayBuffer } as unknown as Blob);
    const { upload, told } = begin(URL_OF, file);
    upload.fails(0);
    await vi.advanceTimersByTimeAsync(0);
    expect(told.at(-1)).toEqual(['failure', 0, expect.stringContaining('“camera.mp4” can no longer be read')]);
  });
});

describe('words', () => {
  test('sizes have two digits from ten on, and times are rounded up', () => {
    const sizes = [0, 999, 1_000, 9_949_999, 9_950_000, 999_499_999, 999_500_000, 51_200_000_000, 5e15];
    expect(sizes.map(formatSize)).toEqual([
      ...['0 B', '999 B', '1.0 KB', '9.9 MB', '10 MB', '999 MB', '1.0 GB', '51 GB', '5000 TB'],
    ]);
    expect([0, 12, 56, 61, 3_541, 5_400, 200_000].map(formatDuration)).toEqual([
      ...['a few seconds', '15 seconds', '1 minute', '2 minutes', '1 hour', '1 hour and 30 minutes'],
      '2 days',
    ]);
  });

  test('100 % is all, and nothing less', () => {
    expect([0, 0.9999, 1, 1.2].map(formatPercent)).toEqual(['0 %', '99 %', '100 %', '100 %']);
  });
});
