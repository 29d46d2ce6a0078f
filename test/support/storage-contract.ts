import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { objectKey, shardOf } from '#platform/storage/object-keys.ts';
import { ObjectNotFound, type ObjectStorage, RangeNotSatisfiable } from '#platform/storage/object-storage.ts';
import { bytes, readAll, sha256, source } from './bytes.ts';
import { putProcess, type TestStorage } from './storages.ts';

const MIB = 2 ** 20;
const video = { mediatype: 'video/mp4' };

/** Describes what every object storage does: with objects of many parts (`large`), with others (`small`) or all. */
export function describeStorage(
  name: string,
  open: () => Promise<TestStorage>,
  sizes: readonly ('small' | 'large')[],
): void {
  describe(`object storage: ${name}`, () => {
    let subject: TestStorage;
    let storage: ObjectStorage;
    beforeAll(async () => {
      subject = await open();
      storage = subject.storage;
    });
    afterEach(async () => {
      await storage.remove(await keysIn());
      await storage.remove(await unfinished());
    });
    afterAll(async () => {
      await storage.close();
      await subject.stop();
    });

    const keysIn = async (prefix = '') => (await Array.fromAsync(storage.list(prefix))).map(({ key }) => key);
    const unfinished = () => Array.fromAsync(storage.unfinished());

    async function put(data: Buffer): Promise<string> {
      const key = objectKey('track');
      await storage.put(key, source(data), { ...video, expectedBytes: data.length });
      return key;
    }

    async function expectNothingLeft(): Promise<void> {
      expect(await keysIn()).toEqual([]);
      expect(await unfinished()).toEqual([]);
    }

    async function expectHeld(key: string, data: Buffer): Promise<void> {
      expect(await storage.size(key)).toBe(data.length);
      expect(sha256(await readAll(await storage.get(key)))).toBe(sha256(data));
      expect(await unfinished()).toEqual([]);
    }

    /** Expects that nothing is left of a put whose source fails, nor of one that is aborted when it has begun. */
    async function expectNothingOfPut(size: number, begun: () => Promise<unknown>): Promise<void> {
      const fault = new Error('the sender is gone');
      await expect(storage.put(objectKey('track'), source(bytes(size), fault), video)).rejects.toBe(fault);
      const controller = new AbortController();
      const body = source(bytes(size), 'stall');
      const putting = storage.put(objectKey('track'), body, { ...video, signal: controller.signal });
      putting.catch(() => undefined);
      await begun();
      controller.abort(fault);
      await expect(putting).rejects.toBe(fault);
      expect(body.destroyed).toBe(true);
      await expectNothingLeft();
    }

    /** An object that a test appends to, with what a caller keeps of it. */
    class Begun {
      readonly key = objectKey('track');
      handle = '';
      receipts: string[] = [];
      stored = 0;
      rest = Buffer.alloc(0);

      async begin(expectedBytes: number): Promise<this> {
        this.handle = await storage.begin(this.key, { ...video, expectedBytes });
        return this;
      }

      append(body: Readable, signal?: AbortSignal): Promise<void> {
        return storage.append(this, this.stored, body, {
          ...(signal && { signal }),
          onPiece: async ({ bytes: more, receipt }) => {
            this.stored += more;
            this.receipts.push(receipt);
          },
          onRest: async (rest) => {
            this.rest = Buffer.from(rest);
          },
        });
      }

      complete(): Promise<void> {
        return storage.complete(this, this.receipts, this.rest);
      }
    }

    if (sizes.includes('small')) describeSmall();
    if (sizes.includes('large')) describeLarge();

    function describeSmall() {
      test.each([0, 300_000, 5 * MIB, 5 * MIB + 1])('returns every byte of an object of %i', async (size) => {
        const data = bytes(size);
        await expectHeld(await put(data), data);
        // As well when they are in memory already.
        const key = objectKey('track');
        await storage.put(key, data, { ...video, expectedBytes: size });
        await expectHeld(key, data);
      });

      test.each([100, 5 * MIB + 1])('shows all of %i bytes in their order, and waits', async (size) => {
        const data = bytes(size);
        const seen: Buffer[] = [];
        const onBytes = async (more: Uint8Array) => {
          await pause(20);
          seen.push(Buffer.from(more));
        };
        await storage.put(objectKey('track'), source(data), { ...video, expectedBytes: size, onBytes });
        expect(sha256(Buffer.concat(seen))).toBe(sha256(data));
      });

      test('leaves nothing when onBytes rejects', async () => {
        const onBytes = async () => {
          throw new Error('not these');
        };
        const putting = storage.put(objectKey('track'), source(bytes(6 * MIB)), { ...video, onBytes });
        await expect(putting).rejects.toThrow('not these');
        await expectNothingLeft();
      });

      test('returns ranges, and refuses one that holds no byte', async () => {
        const data = bytes(300_000);
        const [key, empty] = [await put(data), await put(bytes(0))];
        for (const range of ['0-0', '1-9', '149995-200005', '299999-299999', `299997-${99 * MIB}`]) {
          const [start = 0, end = 0] = range.split('-').map(Number);
          const read = await readAll(await storage.get(key, { start, end }));
          expect([range, sha256(read)]).toEqual([range, sha256(data.subarray(start, end + 1))]);
        }
        const refused = async (of: string, start: number, end: number) =>
          expect(storage.get(of, { start, end })).rejects.toThrow(RangeNotSatisfiable);
        await refused(key, 300_000, 300_001);
        await refused(key, 5, 4);
        await refused(key, -1, 4);
        await refused(empty, 0, 0);
      });

      test('says which object does not exist', async () => {
        const key = objectKey('track');
        await expect(storage.get(key)).rejects.toThrow(ObjectNotFound);
        await expect(storage.size(key)).rejects.toMatchObject({ name: 'ObjectNotFound', key });
      });

      test('removes objects, present or absent', async () => {
        const [kept, removed] = [await put(bytes(10)), await put(bytes(10))];
        await storage.remove([removed, objectKey('track')]);
        await storage.remove([]);
        expect(await keysIn()).toEqual([kept]);
      });

      test('lists objects by the start of their keys', async () => {
        const begun = Date.now();
        const track = await put(bytes(7));
        const element = objectKey('element');
        await storage.put(element, source(bytes(9)), video);
        const [listed] = await Array.fromAsync(storage.list('element/'));
        expect(listed).toMatchObject({ key: element, size: 9 });
        // Some servers keep whole seconds.
        expect(listed?.modified.getTime()).toBeGreaterThan(begun - 2000);
        expect(await keysIn(track.slice(0, 12))).toEqual([track]);
        expect(await keysIn('other/')).toEqual([]);
      });

      test('lists shard by shard, and continues after one', async () => {
        const keys = await Promise.all(Array.from({ length: 30 }, () => put(bytes(1))));
        const shards = async (after?: string) =>
          (await Array.fromAsync(storage.list('', { after }))).map(({ key }) => shardOf(key));
        const all = keys.map(shardOf).sort();
        expect(await shards()).toEqual(all);
        const middle = all[15] ?? '';
        expect(await shards(middle)).toEqual(all.filter((shard) => shard > middle));
      });

      test('leaves nothing of a put whose source fails or ends early, or that is aborted', async () => {
        const destroyed = source(bytes(MIB), 'stall');
        const early = storage.put(objectKey('track'), destroyed, video);
        setTimeout(() => destroyed.destroy(), 100);
        await expect(early).rejects.toThrow('Premature close');

        const unread = source(bytes(MIB));
        const tooLate = { ...video, signal: AbortSignal.abort(new Error('too late')) };
        await expect(storage.put(objectKey('track'), unread, tooLate)).rejects.toThrow('too late');
        expect(unread.destroyed).toBe(true);
        await expectNothingOfPut(MIB, () => pause(100));
      });

      test.each([
        '../secret',
        'track/../../secret',
        '/etc/passwd',
        'track/aa/../../../../../../../etc/passwd',
        `track/aa/${'.'.repeat(36)}`,
        `.unfinished/aa/${'a'.repeat(36)}`,
        '',
      ])('does not take %j for a key', async (key) => {
        const body = source(bytes(10));
        await expect(storage.put(key, body, video)).rejects.toThrow(TypeError);
        expect(body.destroyed).toBe(true);
        await expect(storage.get(key)).rejects.toThrow(TypeError);
        await expect(storage.size(key)).rejects.toThrow(TypeError);
        await expect(storage.remove([key])).rejects.toThrow(TypeError);
        await expect(storage.removeUnfinished(key)).rejects.toThrow(TypeError);
        expect(() => storage.localPath(key)).toThrow(TypeError);
      });

      test('removes what was left of another put and keeps the object', async () => {
        const [key, other] = [await put(bytes(100)), objectKey('track')];
        for (const begun of [key, other]) await storage.begin(begun, { ...video, expectedBytes: 100 });
        expect(await Array.fromAsync(storage.unfinished(key))).toEqual([key]);
        for (let i = 0; i < 2; i += 1) await storage.removeUnfinished(key);
        expect(await unfinished()).toEqual([other]);
        expect(await storage.size(key)).toBe(100);
      });

      test('has room for what there is room for, and says so where there is none and it can tell', async () => {
        await storage.requireRoom(1);
        const huge = storage.requireRoom(2 ** 60);
        if (subject.bucket !== '') await huge;
        else await expect(huge).rejects.toMatchObject({ name: 'StorageRefused', cause: { code: 'ENOSPC' } });
      });

      test('answers a check and leaves nothing by it', async () => {
        await storage.check();
        await expectNothingLeft();
      });

      describe('an object that comes in pieces', () => {
        test('may be empty', async () => {
          const begun = await new Begun().begin(0);
          await begun.complete();
          await expectHeld(begun.key, bytes(0));
        });

        test('appears whole when it is complete, and not before', async () => {
          const data = bytes(6 * MIB);
          const begun = await new Begun().begin(data.length);
          for (const end of [1, data.length]) {
            await begun.append(source(data.subarray(begun.stored, end)));
            expect(begun.stored + begun.rest.length).toBe(end);
            expect(sha256(begun.rest)).toBe(sha256(data.subarray(begun.stored, end)));
            expect(await keysIn()).toEqual([]);
            expect(await unfinished()).toEqual([begun.key]);
          }
          for (let i = 0; i < 2; i += 1) await begun.complete();
          await expectHeld(begun.key, data);
        });

        // Some stores take parts of an upload for a while after it was completed, in case the answer was lost, and drop them.
        test.skipIf(process.env.TEST_S3_LATE_PARTS)('takes nothing more when it is complete', async () => {
          const data = bytes(6 * MIB);
          const begun = await new Begun().begin(data.length);
          await begun.append(source(data));
          await begun.complete();
          await expect(begun.append(source(data))).rejects.toThrow(ObjectNotFound);
        });

        test('is gone when it has been removed', async () => {
          const begun = await new Begun().begin(12 * MIB);
          await begun.append(source(bytes(6 * MIB)));
          await storage.remove([begun.key]);
          await expectNothingLeft();
          await expect(begun.append(source(bytes(6 * MIB)))).rejects.toThrow(ObjectNotFound);
          await expect(begun.complete()).rejects.toThrow(ObjectNotFound);
          await expectNothingLeft();
        });
      });
    }

    function describeLarge() {
      const openFiles = async () => (await readdir('/proc/self/fd')).length;

      test('keeps two large objects put concurrently apart', async () => {
        const both = [bytes(37 * MIB + 12_345, 3), bytes(20 * MIB, 4)];
        const keys = await Promise.all(both.map((data) => put(data)));
        for (const [i, data] of both.entries()) await expectHeld(keys[i] ?? '', data);
      });

      test('keeps large objects that are in memory already, or whose size nobody declared', async () => {
        const [data, unknown] = [bytes(12 * MIB), bytes(25 * MIB + 1)];
        const keys = [objectKey('track'), objectKey('element')] as const;
        await storage.put(keys[0], data, { ...video, expectedBytes: data.length });
        await expectHeld(keys[0], data);
        await storage.put(keys[1], source(unknown), video);
        await expectHeld(keys[1], unknown);
      });

      test('leaves nothing of a large put whose source fails, or that is aborted', async () => {
        await expectNothingOfPut(30 * MIB, () => expect.poll(() => unfinished()).toHaveLength(1));
      });

      test('knows and removes what a killed process left of a put', async () => {
        const key = objectKey('track');
        const child = putProcess(subject, key, 30 * MIB, 'stall');
        await expect.poll(() => unfinished()).toEqual([key]);
        child.kill('SIGKILL');
        await once(child, 'exit');
        expect(await unfinished()).toEqual([key]);
        await expect(storage.size(key)).rejects.toThrow(ObjectNotFound);
        await storage.remove([key]);
        await expectNothingLeft();
      });

      /** Does something several times, which may leave no file or connection open. */
      async function expectNoneHeld(work: () => Promise<unknown>, more = 0): Promise<void> {
        await work();
        const before = await openFiles();
        for (let i = 0; i < 5; i++) await work();
        await expect.poll(openFiles).toBeLessThanOrEqual(before + more);
      }
      const onLinux = test.runIf(process.platform === 'linux');

      onLinux('holds no file or connection of reads that were given up', async () => {
        const key = await put(bytes(12 * MIB));
        await expectNoneHeld(async () => {
          const reader = (await storage.get(key)).getReader();
          await reader.read();
          await reader.cancel();
          await (await storage.get(key)).cancel();
          const controller = new AbortController();
          const aborted = await storage.get(key, undefined, controller.signal);
          controller.abort(new Error('no longer wanted'));
          await expect(readAll(aborted)).rejects.toThrow('no longer wanted');
          await readAll(await storage.get(key, { start: 0, end: 99 }));
        });
      });

      onLinux('holds no file or connection of puts that failed', async () => {
        const data = bytes(16 * MIB);
        const fault = new Error('gone');
        const fail = () => storage.put(objectKey('track'), source(data, fault), video);
        await expectNoneHeld(() => expect(fail()).rejects.toBe(fault), 1);
        await expectNothingLeft();
      });

      test.each(['fails', 'is given up'])('in pieces, continues after a source that %s', async (how) => {
        const data = bytes(44 * MIB + 17);
        const begun = await new Begun().begin(data.length);
        const fault = new Error('in the middle');
        const stop = new AbortController();
        const body = source(data.subarray(0, 40 * MIB), how === 'fails' ? fault : 'stall');
        const appending = begun.append(body, stop.signal);
        appending.catch(() => undefined);
        if (how !== 'fails') {
          await expect.poll(() => begun.stored).toBeGreaterThanOrEqual(32 * MIB);
          stop.abort(fault);
        }
        await expect(appending).rejects.toBe(fault);
        expect(body.destroyed).toBe(true);
        // Other bytes, which the caller has not noted.
        const unnoted = { onPiece: async () => undefined, onRest: async () => undefined };
        await storage.append(begun, begun.stored, source(bytes(9 * MIB, 7)), unnoted);
        await begun.append(source(data.subarray(begun.stored)));
        await begun.complete();
        await expectHeld(begun.key, data);
      });

      test('in pieces, ends when the caller cannot note one', async () => {
        const begun = await new Begun().begin(80 * MIB);
        const body = source(bytes(33 * MIB), 'stall');
        const appending = storage.append(begun, 0, body, {
          onPiece: async () => {
            throw new Error('the database is away');
          },
          onRest: async () => undefined,
        });
        await expect(appending).rejects.toThrow('the database is away');
        expect(body.destroyed).toBe(true);
      });
    }
  });
}
