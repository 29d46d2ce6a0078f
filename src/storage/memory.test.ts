import { expect, test, vi } from 'vitest';
import { UploadMemory } from './memory.ts';

const settled = async () => {
  for (let i = 0; i < 5; i += 1) await Promise.resolve();
};

test('what is given back is handed out again, to whoever has waited for longest', async () => {
  const memory = new UploadMemory(20);
  const [a, b, c] = [memory.share(), memory.share(), memory.share()];
  const first = await a.take(10);
  await b.take(10);
  const granted: string[] = [];
  void c.take(10).then(() => granted.push('c'));
  void memory
    .share()
    .take(10)
    .then(() => granted.push('d'));
  await settled();
  expect(granted).toEqual([]);
  a.give(first);
  await settled();
  expect(granted).toEqual(['c']);
  b.close();
  await settled();
  expect(granted).toEqual(['c', 'd']);
});

test('who has nothing comes before who wants more', async () => {
  const memory = new UploadMemory(20);
  const [greedy, modest] = [memory.share(), memory.share()];
  const first = await greedy.take(10);
  const granted: string[] = [];
  void greedy.take(10).then(() => granted.push('greedy'));
  await modest.take(10);
  await settled();
  expect(granted).toEqual([]);
  greedy.give(first);
  await settled();
  expect(granted).toEqual(['greedy']);
});

test('nobody gets more than an even share while others are there', async () => {
  const memory = new UploadMemory(40);
  const [greedy, other] = [memory.share(), memory.share()];
  await greedy.take(10);
  await greedy.take(10);
  const third = vi.fn();
  void greedy.take(10).then(third);
  await settled();
  expect(third).not.toHaveBeenCalled();
  other.close();
  await settled();
  expect(third).toHaveBeenCalled();
});

test('what is more than whole buffers of an even share is used as well', async () => {
  const memory = new UploadMemory(30);
  const [one, other] = [memory.share(), memory.share()];
  await one.take(10);
  await other.take(10);
  await one.take(10);
  expect([one.held, other.held]).toEqual([20, 10]);
});

test('a buffer that is larger than all there is comes when nobody else has any', async () => {
  const memory = new UploadMemory(10);
  const [small, large] = [memory.share(), memory.share()];
  await small.take(5);
  const granted = vi.fn();
  void large.take(100).then(granted);
  await settled();
  expect(granted).not.toHaveBeenCalled();
  small.close();
  await settled();
  expect(granted).toHaveBeenCalledWith(expect.objectContaining({ length: 100 }));
});

test('a share that is closed holds nothing and asks for nothing', async () => {
  const memory = new UploadMemory(10);
  const [a, b] = [memory.share(), memory.share()];
  const buffer = await a.take(10);
  const granted = vi.fn();
  void b.take(10).then(granted);
  b.close();
  a.close();
  a.give(buffer);
  void a.take(10).then(granted);
  await settled();
  expect(granted).not.toHaveBeenCalled();
  expect(await memory.share().take(10)).toBe(buffer);
});

test('who waits for a large buffer is passed by those for whom there is memory, but not for ever', async () => {
  const memory = new UploadMemory(20);
  const holder = memory.share();
  const held = await holder.take(10);
  const large = vi.fn();
  void memory.share().take(20).then(large);
  let passed = 0;
  for (; passed < 1000; passed++) {
    const small = memory.share();
    const granted = vi.fn();
    void small.take(10).then(granted);
    await settled();
    const came = granted.mock.calls.length > 0;
    small.close();
    if (!came) break;
  }
  expect(passed).toBeGreaterThan(0);
  expect(passed).toBeLessThan(1000);
  expect(large).not.toHaveBeenCalled();
  holder.give(held);
  await settled();
  expect(large).toHaveBeenCalled();
});
