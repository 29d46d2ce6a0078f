import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HttpError } from '../errors.ts';
import { ClientGone } from './body.ts';
import { type FilePart, type FormLimits, type FormReading, readForm } from './multipart.ts';

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
function stream(
  parts: readonly (string | Uint8Array)[],
  then: 'end' | 'stall' | 'break',
): ReadableStream<Uint8Array> {
  const left = [...parts];
  return new ReadableStream({
    pull(controller) {
      const part = left.shift();
      if (part !== undefined) controller.enqueue(Buffer.from(part));
      else if (then === 'end') controller.close();
      else if (then === 'break') controller.error(new TypeError('connection reset'));
      else return new Promise(() => undefined);
    },
  });
}

async function read(
  body: BodyInit,
  options: { limits?: Partial<FormLimits>; headers?: Record<string, string>; reading?: FormReading } = {},
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
    options.reading,
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

test('empty files without a name, and files that nobody wants, count by themselves', async () => {
  const few = file('a', '', '').repeat(3) + file('presenter', 'a.mp4', 'video') + END;
  expect((await read(few)).files).toEqual({ presenter: 'video' });
  const left = (parts: string) =>
    readForm(request(parts + END), LIMITS, async () => undefined, { wants: () => false });
  expect(await left(file('a', 'a.mp4', 'x').repeat(3) + field('acl', '[]'))).toEqual(
    new Map([['acl', '[]']]),
  );
  const sentence = 'The form has more than 1000 files that are empty or that nobody asked for.';
  for (const promise of [
    read(file('a', '', '').repeat(1001) + END, { limits: { fileBytes: 2 ** 20 } }),
    left(file('a', 'a', 'x').repeat(1001)),
  ]) {
    const error = await refusal(promise);
    expect([error.status, error.message]).toEqual([400, sentence]);
  }
});

test('when a handler fails, what was read ahead for it fails in silence', async () => {
  const parts = file('a', 'a.mp4', 'x'.repeat(3 * 2 ** 20)).slice(0, -2);
  const limits = { ...LIMITS, fileBytes: 2 ** 30, idleMs: 5_000 };
  const half = Buffer.from(parts);
  const body = stream([half.subarray(0, 2 ** 20), half.subarray(2 ** 20, 2 ** 21)], 'stall');
  const reading = readForm(request(body), limits, async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    throw new Error('storage');
  });
  await expect(reading).rejects.toThrow('storage');
  await new Promise((resolve) => setTimeout(resolve, 50));
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

test('a field that is too long is refused when it is, not when it ends', async () => {
  const start = field('acl', 'x'.repeat(101)).slice(0, -2);
  const error = await refusal(read(stream([start], 'stall'), { limits: { idleMs: 10_000 } }));
  expect([error.status, error.message]).toEqual([413, "The form field 'acl' is longer than 100 bytes."]);
  expect(error.headers.Connection).toBe('close');
});

describe('what is sent as a file is taken', () => {
  test.each([
    ['a line break', '"a\nb.mp4"', 'ab.mp4'],
    ['a carriage return', '"a\rb.mp4"', 'ab.mp4'],
    ['an encoded line break', '"a%0Ab.mp4"', 'a%0Ab.mp4'],
    ['a NUL', '"a\0b.mp4"', 'ab.mp4'],
    ['nothing but control characters', '"\x01\x7f\x80"', 'presenter'],
    ['a hyphen', '"-"', '-'],
    ['a hyphen without quotation marks', '-', '-'],
    ['nothing', '""', 'presenter'],
    ['blanks', '"  "', 'presenter'],
    ['one dot', '"."', 'presenter'],
    ['two dots', '".."', 'presenter'],
    ['a folder', '"folder/"', 'presenter'],
    ['folders of Windows', '"C:\\tmp\\a.mp4"', 'a.mp4'],
    ['escaped quotation marks', '"she said \\"hi\\".mp4"', 'she said "hi".mp4'],
    ['bare quotation marks', '"she said "hi".mp4"', 'she said "hi".mp4'],
    ['a semicolon', '"a; b.mp4"', 'a; b.mp4'],
    ['blanks without quotation marks', 'a b.mp4', 'a b.mp4'],
    ['UTF-8', '"Vorlesung über Ψ.mp4"', 'Vorlesung über Ψ.mp4'],
    ['10,000 characters', `"${'x'.repeat(10_000)}"`, 'x'.repeat(255)],
    ['255 characters beyond the first 65,536', `"${'\u{1F600}'.repeat(300)}"`, '\u{1F600}'.repeat(255)],
    ['half a character', Buffer.from('"a\xffb.mp4"', 'latin1'), 'a\ufffdb.mp4'],
  ])('under a name of %s', async (_name, sent, taken) => {
    const [start = '', end = ''] = file('presenter', '@', 'video').split('"@"');
    const { files, names } = await read(
      Buffer.concat([start, sent, end, END].map((part) => Buffer.from(part))),
    );
    expect({ files, names }).toEqual({ files: { presenter: 'video' }, names: [taken] });
  });

  test('under an encoded name', async () => {
    const encoded = file('presenter', 'x', 'video').replace(
      'filename="x"',
      `filename="x"; filename*=UTF-8''%C3%A4.mp4`,
    );
    expect((await read(encoded + END)).names).toEqual(['ä.mp4']);
  });

  const nameless = (field: string, type: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"\r\nContent-Type: ${type}\r\n\r\nvideo\r\n`;
  test.each(['application/octet-stream', 'video/mp4', 'audio/flac'])('as %s without a name', async (type) => {
    expect(
      await read(nameless('presenter', type) + END, {
        reading: { isForFile: (name) => name === 'presenter' },
      }),
    ).toEqual({
      fields: {},
      files: { presenter: 'video' },
      names: ['presenter'],
    });
  });

  test('but not as mere bytes in a field that is not for files', async () => {
    expect(await read(nameless('acl', 'application/octet-stream') + END)).toEqual({
      fields: { acl: 'video' },
      files: {},
      names: [],
    });
  });

  test('but not where a web page sends that no file was chosen', async () => {
    expect((await read(file('presenter', '', '') + END)).files).toEqual({});
    expect((await read(file('presenter', 'a.mp4', '') + END)).files).toEqual({ presenter: '' });
  });
});

describe('a part is refused with 400 and its name, not left out,', () => {
  const disposition = (value: string, type = 'video/mp4') =>
    `--${BOUNDARY}\r\nContent-Disposition: ${value}\r\nContent-Type: ${type}\r\n\r\nvideo\r\n`;
  test.each([
    [
      'with a name of two lines',
      disposition('form-data; name="presenter"; filename="a\r\nb.mp4"'),
      "'presenter'",
    ],
    [
      'with a name without an end',
      disposition('form-data; name="presenter"; filename="a.mp4'),
      "'presenter'",
    ],
    [
      'that is no part of a form',
      disposition('attachment; name="presenter"; filename="a.mp4"'),
      "'presenter'",
    ],
    ['without a name', disposition('form-data; filename="a.mp4"'), 'a part'],
    ['without a head', `--${BOUNDARY}\r\n\r\nvideo\r\n`, 'a part'],
    [
      'that is a form itself',
      disposition('form-data; name="presenter"', 'multipart/mixed; boundary=x'),
      "'presenter'",
    ],
  ])('%s', async (_name, part, named) => {
    const error = await refusal(read(part + END));
    expect(error.status).toBe(400);
    expect(error.message).toContain(named);
  });

  test.each([
    [
      'behind what begins like the last boundary',
      `${file('a', 'a.mp4', `x\r\n--${BOUNDARY}--x`)}${file('b', 'b.mp4', 'lost')}`,
    ],
    [
      'behind a first boundary with another end of line',
      `--${BOUNDARY}\nContent-Disposition: form-data; name="a"; filename="a"\n\nlost\r\n${field('b', '')}`,
    ],
  ])('where nobody reads: %s', async (_name, parts) => {
    const error = await refusal(read(parts + END));
    expect(error.status).toBe(400);
    expect(error.message).toContain('a boundary stands where no part can be');
  });

  test('with a head that does not end', async () => {
    const error = await refusal(
      read(stream([file('presenter', 'x'.repeat(20_000), '').slice(0, -8)], 'stall')),
    );
    expect(error.message).toBe('The head of a part is longer than 16384 bytes.');
  });
});

test.each([
  ['before its first boundary', 'x'.repeat(70_000)],
  ['after its last', `${field('acl', '[]')}${END}${'x'.repeat(70_000)}`],
])('a form that goes on %s is refused', async (_where, body) => {
  expect((await refusal(read(stream([body], 'stall')))).status).toBe(400);
});

test('a form is read alike however it arrives, and what is only like its boundary is content', async () => {
  const content = `\r\n--${BOUNDARY}x\r\n--${BOUNDARY.slice(0, -1)}\r\n\r--${BOUNDARY}-\r\n\r\r\n-`;
  const body = Buffer.from(
    `preamble\r\n${field('acl', content)}${file('presenter', 'a', content)}--${BOUNDARY} \t\r\n${field('b', '').slice(BOUNDARY.length + 4)}${END}epilogue`,
  );
  const cuts = fc.array(fc.integer({ min: 0, max: body.length }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(cuts, async (given) => {
      const at = [0, ...given.sort((a, b) => a - b), body.length];
      const pieces = at.slice(1).map((end, i) => body.subarray(at[i], end));
      const { fields, files } = await read(
        stream(
          pieces.filter(({ length }) => length > 0),
          'end',
        ),
      );
      expect({ fields, files }).toEqual({ fields: { acl: content, b: '' }, files: { presenter: content } });
    }),
    { numRuns: 200 },
  );
});

test('tiny chunks without end are refused', async () => {
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.from('x')) });
  const error = await refusal(read(endless));
  expect([error.status, error.message]).toEqual([400, 'The chunks of the request are too small.']);
});

test('a handler that takes nothing more does not hold up the form', async () => {
  const fields = await readForm(
    request(file('presenter', 'a', 'x'.repeat(900)) + field('acl', '[]') + END),
    LIMITS,
    async (part) => void part.stream.destroy(),
  );
  expect(Object.fromEntries(fields)).toEqual({ acl: '[]' });
});
