import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { lookLate } from '#test/support/busy.ts';
import { HttpError } from '../errors/errors.ts';
import { readFields } from './form.ts';
import { type FilePart, type FormLimits, type FormReading, readForm } from './multipart.ts';
import { ByteSearch } from './multipart-parts.ts';
import { BodyReader, ClientDisconnected } from './request-body.ts';

const BOUNDARY = 'boundary';
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;
const URLENCODED = 'application/x-www-form-urlencoded';
const MIB = 2 ** 20;

const request = (body: BodyInit | null, type?: string, headers: Record<string, string> = {}) =>
  new Request('http://inlet.test/', {
    method: 'POST',
    body,
    headers: { ...(type && { 'Content-Type': type }), ...headers },
    duplex: 'half',
  } as RequestInit);

/** A body that sends its parts, and then ends, sends nothing more or breaks. */
function stream(parts: readonly (string | Uint8Array)[], then: 'end' | 'stall' | 'break') {
  const left = [...parts];
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = left.shift();
      if (part !== undefined) controller.enqueue(Buffer.from(part));
      else if (then === 'end') controller.close();
      else if (then === 'break') controller.error(new TypeError('connection reset'));
      else return new Promise(() => undefined);
    },
  });
}

/** Expects a refusal with a status and, where given, this message. */
async function expectRefused(promise: Promise<unknown>, status: number, message: string | RegExp = /./) {
  const error = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(HttpError);
  const said = typeof message === 'string' ? message : expect.stringMatching(message);
  expect(error).toMatchObject({ status, message: said });
  return error as HttpError;
}

test('bytes that came while the process had no time to look are not late', async () => {
  const body = new ReadableStream({
    pull: async (controller) => {
      await lookLate();
      controller.enqueue(Buffer.from('a'));
      controller.close();
    },
  });
  expect(await new BodyReader(request(body), 20).read()).toEqual(Buffer.from('a'));
});

describe('a form of fields', () => {
  test('urlencoded and multipart forms give their fields, each as often as it stands there', async () => {
    const sent = new URLSearchParams('creator=Ada&state=running&creator=Grace');
    expect(await readFields(request(sent))).toEqual([...sent]);
    const form = new FormData();
    form.set('state', 'stopped');
    form.set('file', new Blob(['x']), 'a.txt');
    expect(await readFields(request(form))).toEqual([['state', 'stopped']]);
    expect(await readFields(request(null))).toEqual([]);
  });

  test.each(['multipart/form-data; boundary=x', 'application/json', ''])(
    'a body that is no form (%s) is 400',
    async (type) => {
      await expectRefused(readFields(request('{"a":', type)), 400);
    },
  );

  test.each([
    ['in a part', 'a.\r\n--x\r\nContent-Disposition: form-data; name="acl"\r\n\r\n[{'],
    ['in the head of a part', 'a.\r\n--x\r\nContent-Dis'],
    ['before its last boundary', 'a.\r\n'],
  ])('a multipart form that ends %s is refused, not taken without the rest', async (_where, rest) => {
    const start = '--x\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n';
    const reading = readFields(request(start + rest, 'multipart/form-data; boundary=x'));
    await expectRefused(reading, 400, /^The multipart form is broken or was cut short: /);
  });

  test('a form may have 1 MiB, or as much as its endpoint allows', async () => {
    const sized = (bytes: number) => request(`a=${'x'.repeat(bytes - 2)}`, URLENCODED);
    expect(await readFields(sized(MIB))).toHaveLength(1);
    await expectRefused(readFields(sized(MIB + 1)), 413);
    expect(await readFields(sized(500), 500)).toHaveLength(1);
    await expectRefused(readFields(sized(501), 500), 413, 'The form is longer than 500 bytes.');
  });

  test('a form of more than 1000 fields is 400, urlencoded as multipart', async () => {
    for (const Encoded of [URLSearchParams, FormData]) {
      const form = new Encoded();
      for (let i = 0; i < 1000; i += 1) form.append(`f${i}`, 'x');
      expect(await readFields(request(form))).toHaveLength(1000);
      form.append('last', 'x');
      await expectRefused(readFields(request(form)), 400, 'The form has more than 1000 fields.');
    }
    const blanks = request(`${'&'.repeat(5000)}a=b&&`, `${URLENCODED}; charset=utf-8`);
    expect(await readFields(blanks)).toEqual([['a', 'b']]);
  });

  test('a form that comes in drops for minutes is 408', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const body = new ReadableStream({
      pull: (controller) => {
        now += 50_000;
        controller.enqueue(Buffer.from('a'));
      },
    });
    await expectRefused(readFields(request(body)), 408);
  });
});

describe('a form with files', () => {
  const LIMITS: FormLimits = { fieldBytes: 100, fields: 3, files: 2, fileBytes: 1000, idleMs: 200 };
  const END = `--${BOUNDARY}--\r\n`;

  const part = (disposition: string, value: string, type = 'video/mp4') =>
    `--${BOUNDARY}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${type}\r\n\r\n${value}\r\n`;
  const field = (name: string, value: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = (name: string, filename: string, value: string) =>
    part(`form-data; name="${name}"; filename="${filename}"`, value);

  type Options = { limits?: Partial<FormLimits>; type?: string; headers?: Record<string, string> };

  async function read(
    body: BodyInit,
    { limits = {}, type = MULTIPART, headers = {} }: Options = {},
    reading?: FormReading,
  ) {
    const files: Record<string, string> = {};
    const names: string[] = [];
    const take = async (taken: FilePart) => {
      names.push(taken.filename);
      files[taken.field] = await text(taken.stream);
    };
    const fields = await readForm(request(body, type, headers), { ...LIMITS, ...limits }, take, reading);
    return { fields: Object.fromEntries(fields), files, names };
  }

  test('a file of exactly the size allowed passes, one byte more is 413', async () => {
    expect((await read(file('presenter', 'a', 'x'.repeat(1000)) + END)).files.presenter).toHaveLength(1000);
    const error = await expectRefused(read(file('presenter', 'a', 'x'.repeat(1001)) + END), 413);
    expect(error.headers.Connection).toBe('close');
  });

  test('a field of exactly the size allowed passes; one byte more is 413 as soon as it comes', async () => {
    expect((await read(field('acl', 'x'.repeat(100)) + END)).fields.acl).toHaveLength(100);
    const unended = field('acl', 'x'.repeat(101)).slice(0, -2);
    for (const body of [field('acl', 'x'.repeat(101)) + END, stream([unended], 'stall')]) {
      const reading = read(body, { limits: { idleMs: 10_000 } });
      const error = await expectRefused(reading, 413, "The form field 'acl' is longer than 100 bytes.");
      expect(error.headers.Connection).toBe('close');
    }
  });

  test('one field or file too many is 400', async () => {
    const fields = (count: number) => field('f', '').repeat(count) + END;
    const files = (count: number) => file('f', 'a', 'x').repeat(count) + END;
    for (const body of [fields(3), files(2)]) await read(body);
    for (const body of [fields(4), files(3)]) await expectRefused(read(body), 400);
  });

  test('empty files without a name, and files that nobody wants, count by themselves', async () => {
    const few = file('a', '', '').repeat(3) + file('presenter', 'a.mp4', 'video') + END;
    expect((await read(few)).files).toEqual({ presenter: 'video' });
    const reading: FormReading = { wants: () => false };
    const left = file('a', 'a.mp4', 'x').repeat(3) + field('acl', '[]') + END;
    expect(await read(left, {}, reading)).toEqual({ fields: { acl: '[]' }, files: {}, names: [] });
    const sentence = 'The form has more than 1000 empty or unexpected files.';
    const limits = { fileBytes: MIB };
    await expectRefused(read(file('a', '', '').repeat(1001) + END, { limits }), 400, sentence);
    await expectRefused(read(file('a', 'a', 'x').repeat(1001) + END, {}, reading), 400, sentence);
  });

  test('before anything is read, a declared length beyond the limit is 413, another type 415, no boundary 400', async () => {
    await expectRefused(read(stream([], 'stall'), { headers: { 'Content-Length': String(2 ** 40) } }), 413);
    await expectRefused(read(stream([], 'stall'), { type: 'application/json' }), 415);
    await expectRefused(read(stream([], 'stall'), { type: 'multipart/form-data' }), 400);
  });

  test('a form cut short is 400, after the file handler has ended', async () => {
    let settled = false;
    const cut = request(stream([file('presenter', 'a', 'half').slice(0, -4)], 'end'), MULTIPART);
    const reading = readForm(cut, LIMITS, async (taken) => {
      await text(taken.stream).finally(() => {
        settled = true;
      });
    });
    await expectRefused(reading, 400);
    expect(settled).toBe(true);
    await expectRefused(read(field('acl', 'half').slice(0, -2)), 400);
  });

  test('a client that goes away is told apart from one that errs; one that sends nothing more is 408', async () => {
    await expect(readFields(request(stream(['state=run'], 'break')))).rejects.toThrow(ClientDisconnected);
    const reading = read(stream([file('presenter', 'a', 'half').slice(0, -2)], 'break'));
    await expect(reading).rejects.toThrow(ClientDisconnected);
    await expectRefused(read(stream([field('acl', '[]')], 'stall')), 408);
  });

  test('a slow handler does not count as an idle client', async () => {
    const body = stream([file('presenter', 'a', 'x'.repeat(500)), END], 'end');
    const fields = await readForm(request(body, MULTIPART), { ...LIMITS, idleMs: 50 }, async (taken) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      await text(taken.stream);
    });
    expect(fields.size).toBe(0);
  });

  test.each([
    ['immediately, the rest is not read', Array(1000).fill('x'.repeat(100_000)), 0],
    ['after bytes were read ahead, those fail in silence', ['x'.repeat(MIB), 'x'.repeat(MIB)], 50],
  ])('when a handler fails %s, and its error is reported', async (_when, more: string[], ms) => {
    const body = stream([file('presenter', 'a', '').slice(0, -2), ...more], 'stall');
    const limits = { ...LIMITS, fileBytes: 2 ** 30, idleMs: 5_000 };
    const failing = readForm(request(body, MULTIPART), limits, async () => {
      if (ms) await new Promise((resolve) => setTimeout(resolve, ms));
      throw new Error('the storage refuses');
    });
    await expect(failing).rejects.toThrow('the storage refuses');
    // An error that nobody handles would end the test run.
    await new Promise((resolve) => setTimeout(resolve, ms));
  });

  test('a handler that takes nothing more does not hold up the form', async () => {
    const body = file('presenter', 'a', 'x'.repeat(900)) + field('acl', '[]') + END;
    const destroy = async (taken: FilePart) => void taken.stream.destroy();
    expect(await readForm(request(body, MULTIPART), LIMITS, destroy)).toEqual(new Map([['acl', '[]']]));
  });

  describe('a file is taken', () => {
    test.each([
      ['a line break', '"a\nb.mp4"', 'ab.mp4'],
      ['a NUL', '"a\0b.mp4"', 'ab.mp4'],
      ['nothing but control characters', '"\x01\x7f\x80"', 'presenter'],
      ['a hyphen without quotation marks', '-', '-'],
      ['nothing', '""', 'presenter'],
      ['two dots', '".."', 'presenter'],
      ['a folder', '"folder/"', 'presenter'],
      ['folders of Windows', '"C:\\tmp\\a.mp4"', 'a.mp4'],
      ['escaped quotation marks', '"she said \\"hi\\".mp4"', 'she said "hi".mp4'],
      ['bare quotation marks', '"she said "hi".mp4"', 'she said "hi".mp4'],
      ['blanks without quotation marks', 'a b.mp4', 'a b.mp4'],
      ['UTF-8', '"Vorlesung über Ψ.mp4"', 'Vorlesung über Ψ.mp4'],
      ['10,000 characters', `"${'x'.repeat(10_000)}"`, 'x'.repeat(255)],
      ['255 characters beyond the first 65,536', `"${'\u{1F600}'.repeat(300)}"`, '\u{1F600}'.repeat(255)],
      ['half a character', Buffer.from('"a\xffb.mp4"', 'latin1'), 'a\ufffdb.mp4'],
      ['an encoding', `"x"; filename*=UTF-8''%C3%A4.mp4`, 'ä.mp4'],
    ])('under a name of %s', async (_name, sent, taken) => {
      const [start = '', end = ''] = file('presenter', '@', 'video').split('"@"');
      const { files, names } = await read(Buffer.concat([start, sent, end, END].map((each) => Buffer.from(each))));
      expect({ files, names }).toEqual({ files: { presenter: 'video' }, names: [taken] });
    });

    test('as bytes of any type without a name, but not in a field that is not for files', async () => {
      for (const type of ['application/octet-stream', 'video/mp4', 'audio/flac']) {
        const nameless = part('form-data; name="presenter"', 'video', type) + END;
        const taken = { fields: {}, files: { presenter: 'video' }, names: ['presenter'] };
        expect(await read(nameless, {}, { isForFile: (name) => name === 'presenter' })).toEqual(taken);
      }
      const nameless = part('form-data; name="acl"', 'video', 'application/octet-stream') + END;
      expect(await read(nameless)).toEqual({ fields: { acl: 'video' }, files: {}, names: [] });
    });

    test('but not where a web page sends that no file was chosen', async () => {
      expect((await read(file('presenter', '', '') + END)).files).toEqual({});
      expect((await read(file('presenter', 'a.mp4', '') + END)).files).toEqual({ presenter: '' });
    });
  });

  const MISPLACED = /a boundary is outside of the parts/;
  test.each([
    ['with a name of two lines', part('form-data; name="presenter"; filename="a\r\nb"', ''), /'presenter'/],
    ['with a name without an end', part('form-data; name="presenter"; filename="a', ''), /'presenter'/],
    ['that is no part of a form', part('attachment; name="presenter"; filename="a"', ''), /'presenter'/],
    ['that is a form', part('form-data; name="presenter"', '', 'multipart/mixed; boundary=x'), /'presenter'/],
    ['without a name', part('form-data; filename="a.mp4"', ''), /a part/],
    ['without a head', `--${BOUNDARY}\r\n\r\nvideo\r\n`, /a part/],
    [
      'behind what begins like the last boundary',
      file('a', 'a', `x\r\n--${BOUNDARY}--x`) + file('b', 'b', 'lost'),
      MISPLACED,
    ],
    [
      'behind a first boundary with another end of line',
      `--${BOUNDARY}\nContent-Disposition: form-data; name="a"; filename="a"\n\nlost\r\n${field('b', '')}`,
      MISPLACED,
    ],
  ])('a part %s is refused with 400 and its name, not left out', async (_name, parts, sentence) => {
    await expectRefused(read(parts + END), 400, sentence);
  });

  test.each([
    ['that goes on before its first boundary', 'x'.repeat(70_000), /./],
    ['that goes on after its last', `${field('acl', '[]')}${END}${'x'.repeat(70_000)}`, /./],
    [
      'with a head that does not end',
      file('presenter', 'x'.repeat(20_000), '').slice(0, -8),
      /^The head of a part is longer than 16384 bytes\.$/,
    ],
  ])('a form %s is refused', async (_where, body, sentence) => {
    await expectRefused(read(stream([body], 'stall')), 400, sentence);
  });

  test('a form is read alike wherever it is cut, and what is only like its boundary is content', async () => {
    const content = `\r\n--${BOUNDARY}x\r\n--${BOUNDARY.slice(0, -1)}\r\n\r--${BOUNDARY}-\r\n\r\r\n-`;
    const second = `--${BOUNDARY} \t\r\n${field('b', '').slice(BOUNDARY.length + 4)}`;
    const body = Buffer.from(
      `preamble\r\n${field('acl', content)}${file('presenter', 'a', content)}${second}${END}epilogue`,
    );
    const pieces = (size: number) =>
      Array.from({ length: Math.ceil(body.length / size) }, (_, i) => body.subarray(i * size, (i + 1) * size));
    const cuts = [1, 2, 3, 7].map(pieces);
    for (let at = 1; at < body.length; at += 1) cuts.push([body.subarray(0, at), body.subarray(at)]);
    for (const each of cuts) {
      const { fields, files } = await read(stream(each, 'end'));
      expect({ fields, files }).toEqual({ fields: { acl: content, b: '' }, files: { presenter: content } });
    }
  });

  test('tiny chunks without end are refused', async () => {
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.from('x')) });
    await expectRefused(read(endless), 400, 'The chunks of the request are too small.');
  });
});

test('ByteSearch finds the first place, and where the sequence may begin at the end', () => {
  /** All texts of these letters, up to so many. */
  const texts = (letters: string, most: number): string[] =>
    most === 0 ? [''] : ['', ...texts(letters, most - 1).flatMap((end) => [...letters].map((l) => l + end))];
  const expected = (bytes: string, needle: string, from: number) => {
    const at = bytes.indexOf(needle, from);
    if (at >= 0) return at;
    for (let begin = from; begin < bytes.length; begin += 1) if (needle.startsWith(bytes.slice(begin))) return begin;
    return bytes.length;
  };
  const wrong: unknown[] = [];
  const haystacks = texts('ab-', 6).map((bytes) => [bytes, Buffer.from(bytes)] as const);
  for (const needle of texts('ab-', 4).filter((each) => each !== '')) {
    const search = new ByteSearch(Buffer.from(needle));
    for (const [bytes, buffer] of haystacks)
      for (let from = 0; from <= Math.min(2, bytes.length); from += 1)
        if (search.in(buffer, from) !== expected(bytes, needle, from)) wrong.push([needle, bytes, from]);
  }
  expect(wrong).toEqual([]);
});
