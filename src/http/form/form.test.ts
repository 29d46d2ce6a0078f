import { expect, test, vi } from 'vitest';
import { ClientGone } from './body.ts';
import { readFields } from './form.ts';

const request = (body: BodyInit | null, type?: string) =>
  new Request('http://localhost/', { method: 'PUT', body, headers: type ? { 'Content-Type': type } : {} });

test('urlencoded and multipart forms give their fields, each as often as it stands there', async () => {
  const sent: [string, string][] = [
    ['creator', 'Ada'],
    ['state', 'running'],
    ['creator', 'Grace'],
  ];
  expect(await readFields(request(new URLSearchParams(sent)))).toEqual(sent);
  const form = new FormData();
  form.set('state', 'stopped');
  form.set('file', new Blob(['x']), 'a.txt');
  expect(await readFields(request(form))).toEqual([['state', 'stopped']]);
});

test('no body is no field', async () => {
  expect(await readFields(request(null))).toEqual([]);
});

test.each(['multipart/form-data; boundary=x', 'application/json', ''])(
  'a body that is no form (%s) is 400',
  async (type) => {
    await expect(readFields(request('{"a":', type))).rejects.toMatchObject({ status: 400 });
  },
);

test.each([
  ['in a part', 'a.\r\n--x\r\nContent-Disposition: form-data; name="acl"\r\n\r\n[{'],
  ['in the head of a part', 'a.\r\n--x\r\nContent-Dis'],
  ['before its last boundary', 'a.\r\n'],
])('a multipart form that ends %s is refused, not taken without the rest', async (_where, rest) => {
  const start = '--x\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n';
  const type = 'multipart/form-data; boundary=x';
  await expect(readFields(request(start + rest, type))).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/^The multipart form is broken or was cut short: /),
  });
});

test('a form beyond 1 MiB is 413', async () => {
  const body = `a=${'x'.repeat(2 ** 20)}`;
  await expect(readFields(request(body, 'application/x-www-form-urlencoded'))).rejects.toMatchObject({
    status: 413,
  });
});

test('a form of more than 1000 fields is 400, urlencoded as multipart', async () => {
  const fields = (count: number) =>
    Array.from({ length: count }, (_, i) => [`f${i}`, 'x'] as [string, string]);
  const multipart = (list: [string, string][]) => {
    const form = new FormData();
    for (const [name, value] of list) form.append(name, value);
    return form;
  };
  for (const encoded of [(list: [string, string][]) => new URLSearchParams(list), multipart]) {
    expect(await readFields(request(encoded(fields(1000))))).toHaveLength(1000);
    await expect(readFields(request(encoded(fields(1001))))).rejects.toMatchObject({
      status: 400,
      message: 'The form has more than 1000 fields.',
    });
  }
  const type = 'application/x-www-form-urlencoded; charset=utf-8';
  expect(await readFields(request(`${'&'.repeat(5000)}a=b&&`, type))).toEqual([['a', 'b']]);
});

test('a form that anybody may send can have a limit of its own', async () => {
  const body = new URLSearchParams({ a: 'x'.repeat(1000) });
  expect(new Map(await readFields(request(body), 2000)).get('a')).toHaveLength(1000);
  await expect(readFields(request(body), 500)).rejects.toMatchObject({
    status: 413,
    message: 'The form is longer than 500 bytes.',
  });
});

test('a form that comes in drops for minutes is 408', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const body = new ReadableStream({
    pull: (controller) => {
      now += 50_000;
      controller.enqueue(new TextEncoder().encode('a'));
    },
  });
  const slow = new Request('http://localhost/', { method: 'PUT', body, duplex: 'half' } as RequestInit);
  await expect(readFields(slow)).rejects.toMatchObject({ status: 408 });
});

test('a connection that breaks in the middle of a form is the fault of the client', async () => {
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('state=run'));
    },
    pull: (controller) => controller.error(new Error('reset')),
  });
  const broken = new Request('http://localhost/', { method: 'PUT', body, duplex: 'half' } as RequestInit);
  await expect(readFields(broken)).rejects.toThrow(ClientGone);
});
