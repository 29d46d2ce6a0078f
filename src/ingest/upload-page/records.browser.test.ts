import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Recording } from './recording.ts';
import { createRecords } from './records.browser.ts';

const BASE = 'https://media.example.org/';
let kept: Record<string, string>;
beforeEach(() => {
  kept = {};
  const methods = {
    getItem: (key: string) => kept[key] ?? null,
    setItem: (key: string, value: string) => {
      kept[key] = value;
    },
    removeItem: (key: string) => {
      delete kept[key];
    },
  };
  const ownKeys = () => Object.keys(kept);
  const getOwnPropertyDescriptor = () => ({ enumerable: true, configurable: true });
  vi.stubGlobal('localStorage', new Proxy(methods, { ownKeys, getOwnPropertyDescriptor }));
  onTestFinished(() => void vi.unstubAllGlobals());
});
const recording = (id: string) => ({ id, files: [] }) as unknown as Recording;
const ids = (account: string, base = BASE) =>
  createRecords(base, account)
    .all()
    .map(({ id }) => id);

test('what is kept comes back in the order of time until it is removed', () => {
  const records = createRecords(BASE, 'ada');
  for (const id of ['2', '1', '3']) records.save(recording(id));
  records.remove('3');
  expect(ids('ada')).toEqual(['1', '2']);
});

test('an account and a server have their own, whatever they are called', () => {
  createRecords(BASE, 'a b').save(recording('1'));
  createRecords(`${BASE}b/`, 'a').save(recording('2'));
  createRecords(BASE, 'a').save(recording('3'));
  expect([ids('a'), ids('a b'), ids('a', `${BASE}b/`)]).toEqual([['3'], ['1'], ['2']]);
});

test('what cannot be read is left out', () => {
  createRecords(BASE, 'ada').save(recording('1'));
  const [key = ''] = Object.keys(kept);
  kept[`${key}x`] = '{';
  kept[`${key}y`] = '{"id":"y"}';
  expect(ids('ada')).toEqual(['1']);
});

test('a browser that keeps nothing is no fault', () => {
  vi.stubGlobal('localStorage', undefined);
  createRecords(BASE, 'ada').save(recording('1'));
  expect(ids('ada')).toEqual([]);
});
