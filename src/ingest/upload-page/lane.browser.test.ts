import { expect, test } from 'vitest';
import { createLane, type LaneEvents } from './lane.browser.ts';
import { createMeter } from './meter.browser.ts';
import type { Field, Item } from './recording.ts';
import type { TransferEvents } from './transfer.browser.ts';

function laneOf(...files: File[]) {
  const transfers: (TransferEvents & { field: Field; stopped: boolean; nudged: number })[] = [];
  const lane = createLane((_, { field }, events) => {
    const transfer = { ...events, field, stopped: false, nudged: 0 };
    transfers.push(transfer);
    return {
      stop: () => {
        transfer.stopped = true;
      },
      nudge: () => {
        transfer.nudged += 1;
      },
    };
  }, createMeter);
  const fields: Field[] = ['presenter', 'presentation'];
  const recorded = files.map(({ name, size, lastModified }, i) => {
    return { field: fields[i], name, size, lastModified, url: undefined, sent: 0, done: false, lost: false };
  });
  const item = { recording: { files: recorded } } as unknown as Item;
  const told: unknown[][] = [];
  const tell =
    (name: string) =>
    (...what: unknown[]) =>
      void told.push([name, ...what]);
  const events: LaneEvents = {
    onUrl: tell('url'),
    onProgress: tell('progress'),
    onWaiting: tell('waiting'),
    onArrived: tell('arrived'),
    onFault: tell('fault'),
  };
  return { lane, item, told, events, transfers, recorded };
}
const file = (name: string, lastModified = 1, text = 'four') => new File([text], name, { lastModified });

test('files are known by name, size and time', () => {
  const { lane, item, recorded } = laneOf(file('camera.mp4'), file('slides.mp4'));
  const others = [file('camera.mp4', 2), file('camera.mp4', 1, 'fives'), file('Camera.mp4')];
  expect(lane.give(item, others)).toEqual([]);
  expect(lane.missing(item)).toBe(recorded[0]);
  const own = file('camera.mp4');
  expect(lane.give(item, [...others, own])).toEqual([own]);
  expect(lane.missing(item)).toBe(recorded[1]);
});

test('both files go at once, and one that has arrived no more', () => {
  const { lane, item, told, events, transfers, recorded } = laneOf(file('camera.mp4'), file('slides.mp4'));
  lane.give(item, [file('slides.mp4'), file('camera.mp4')]);
  lane.start(item, events);
  expect(transfers.map(({ field }) => field)).toEqual(['presenter', 'presentation']);
  transfers[0]?.onUrl('https://media.example.org/uploads/1');
  transfers[0]?.onDone();
  expect(recorded[0]).toMatchObject({ url: 'https://media.example.org/uploads/1', done: true, sent: 4 });
  lane.nudge();
  lane.stop(item);
  expect(transfers.map(({ stopped, nudged }) => [stopped, nudged])).toEqual([
    [false, 0],
    [true, 1],
  ]);
  lane.start(item, events);
  expect(transfers.slice(2).map(({ field }) => field)).toEqual(['presentation']);
  expect(told).toEqual([['url'], ['arrived']]);
});

test('a fault of one stops the other; an upload that is not there keeps its address', () => {
  const { lane, item, told, events, transfers, recorded } = laneOf(file('camera.mp4'), file('slides.mp4'));
  lane.give(item, [file('slides.mp4'), file('camera.mp4')]);
  lane.start(item, events);
  transfers[0]?.onUrl('https://media.example.org/uploads/1');
  transfers[0]?.onProgress(2);
  transfers[0]?.onFault(404, 'There is no such upload.');
  expect(transfers.map(({ stopped }) => stopped)).toEqual([true, true]);
  expect(told.at(-1)).toEqual(['fault', 404, 'There is no such upload.']);
  expect(recorded[0]).toMatchObject({ url: 'https://media.example.org/uploads/1', sent: 2, lost: true });
  expect(lane.missing(item)).toBeUndefined();
});

test('a file that cannot be read any more has to be given again', () => {
  const { lane, item, events, transfers, recorded } = laneOf(file('camera.mp4'));
  lane.give(item, [file('camera.mp4')]);
  lane.start(item, events);
  transfers[0]?.onFault(0, 'It cannot be read.');
  expect(lane.missing(item)).toBe(recorded[0]);
});
