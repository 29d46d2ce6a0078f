import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { HttpError } from '../errors.ts';
import { ClientGone } from './body.ts';
import { type FilePart, type FormLimits, readForm } from './multipart.ts';

const LIMITS: FormLimits = { fieldBytes: 100, fields: 3, files: 2, fileBytes: 1000, idleMs: 200 };
const BOUNDARY = 'boundary';

const field = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, filename: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: video/mp4\r\n\r\n${value}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

function request(body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request('http://localhost/', {
    method: 'POST',
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers },
    body,
    duplex: 'half',
  } as RequestInit);
}

/** A body that sends its parts and then does as told. */
function stream(parts: string[], then: 'end' | 'stall' | 'break'): ReadableStream<Uint8Array> {
  const left = [...parts];
  return new ReadableStream({
    pull(controller) {
      const part = left.shift();
      if (part !== undefined) controller.enqueue(new TextEncoder().encode(part));
      else if (then === 'end') controller.close();
      else if (then === 'break') controller.error(new TypeError('connection reset'));
      else return new Promise(() => undefined);
    },
  });
}

async function read(
  body: BodyInit,
  options: { limits?: Partial<FormLimits>; headers?: Record<string, string> } = {},
) {
  const files: Record<string, string> = {};
  const names: string[] = [];
  const fields = await readForm(
    request(body, options.headers),
    { ...LIMITS, ...options.limits },
    async (part: FilePart) => {
      names.push(part.filename);
      files[part.field] = await text(part.stream);
    },
  );
  return { fields: Object.fromEntries(fields), files, names };
}

const refusal = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HttpError);
  return error as HttpError;
};

test('fields and files arrive in any order, with names in UTF-8', async () => {
  const form =
    file('presenter', 'Vörlesung & (1) "<%>.mp4'.replaceAll('"', '%22'), 'video') +
    field('acl', '[]') +
    file('audio', 'a.m4a', 'sound') +
    END;
  const { fields, files, names } = await read(form);
  expect(fields).toEqual({ acl: '[]' });
  expect(files).toEqual({ presenter: 'video', audio: 'sound' });
  expect(names[0]).toContain('Vörlesung & (1)');
});

test('a file of exactly the size allowed passes, one byte more is 413', async () => {
  expect((await read(file('presenter', 'a', 'x'.repeat(1000)) + END)).files.presenter).toHaveLength(1000);
  const error = await refusal(read(file('presenter', 'a', 'x'.repeat(1001)) + END));
  expect(error.status).toBe(413);
  expect(error.headers.Connection).toBe('close');
});

test('a field of exactly the size allowed passes, one byte more is 413 and names the field', async () => {
  expect((await read(field('acl', 'x'.repeat(100)) + END)).fields.acl).toHaveLength(100);
  const error = await refusal(read(field('acl', 'x'.repeat(101)) + END));
  expect([error.status, error.message]).toEqual([413, "The form field 'acl' is longer than 100 bytes."]);
});

test('too many fields or files are 400', async () => {
  expect((await refusal(read([1, 2, 3, 4].map((i) => field(`f${i}`, '')).join('') + END))).status).toBe(400);
  expect((await refusal(read([1, 2, 3].map((i) => file(`f${i}`, 'a', 'x')).join('') + END))).status).toBe(
    400,
  );
});

test('a declared length beyond the limit is refused before anything is read', async () => {
  const body = stream([], 'stall');
  const error = await refusal(read(body, { headers: { 'Content-Length': String(2 ** 40) } }));
  expect(error.status).toBe(413);
});

test('another content type is 415, a form without boundary 400', async () => {
  expect((await refusal(read('{}', { headers: { 'Content-Type': 'application/json' } }))).status).toBe(415);
  expect((await refusal(read('{}', { headers: { 'Content-Type': 'multipart/form-data' } }))).status).toBe(
    400,
  );
});

describe('a form cut short', () => {
  test('in a file is 400, after the file handler has ended', async () => {
    let settled = false;
    const promise = readForm(
      request(stream([file('presenter', 'a', 'half').slice(0, -4)], 'end')),
      LIMITS,
      async (part) => {
        try {
          await text(part.stream);
        } finally {
          settled = true;
        }
      },
    );
    expect((await refusal(promise)).status).toBe(400);
    expect(settled).toBe(true);
  });

  test('in the middle of a field is 400', async () => {
    expect((await refusal(read(field('acl', 'half').slice(0, -2)))).status).toBe(400);
  });
});

test('a client that goes away is told apart from a client that errs', async () => {
  const promise = read(stream([file('presenter', 'a', 'half').slice(0, -2)], 'break'));
  await expect(promise).rejects.toBeInstanceOf(ClientGone);
});

test('a client that sends nothing more is 408', async () => {
  expect((await refusal(read(stream([field('acl', '[]')], 'stall')))).status).toBe(408);
});

test('a slow handler does not count as an idle client', async () => {
  const body = stream([file('presenter', 'a', 'x'.repeat(500)), END], 'end');
  const fields = await readForm(request(body), { ...LIMITS, idleMs: 50 }, async (part) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await text(part.stream);
  });
  expect(fields.size).toBe(0);
});

test('when a handler fails, the rest is not read and its error is the one reported', async () => {
  const more = Array.from({ length: 1000 }, () => 'x'.repeat(100_000));
  const body = stream([file('presenter', 'a', '').slice(0, -2), ...more], 'stall');
  const failing = readForm(request(body), { ...LIMITS, fileBytes: 2 ** 30, idleMs: 5_000 }, async () => {
    throw new Error('the storage refuses');
  });
  await expect(failing).rejects.toThrow('the storage refuses');
});
