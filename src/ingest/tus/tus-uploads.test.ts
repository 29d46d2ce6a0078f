import { describe, expect, test } from 'vitest';
import { bytes, sha256 } from '#test/support/bytes.ts';
import { UploadDigests } from './digests.ts';
import { parseUploads } from './finished-uploads.ts';
import { readTusHeaders } from './tus-headers.ts';

describe('the digest of an upload', () => {
  test('continues from request to request', async () => {
    const digests = new UploadDigests();
    const data = bytes(1000);
    await digests.at('a', 0)?.add(data.subarray(0, 400));
    expect(digests.at('a', 300)).toBeUndefined();
    await digests.at('b', 0)?.add(data.subarray(0, 400));
    const digest = digests.at('b', 400);
    await digest?.add(data.subarray(400));
    expect(await digest?.digest()).toBe(sha256(data));
  });

  test('is none, and not that of later bytes, when it is given up while bytes come', async () => {
    const digests = new UploadDigests();
    const running = digests.at('running', 0);
    const data = bytes(200_000);
    await running?.add(data);
    for (let i = 0; i < 10_000; i += 1) digests.at(`other ${i}`, 0);
    await running?.add(data);
    expect(await running?.digest()).toBeUndefined();
  });

  test('is not given up by an earlier one that fails late', async () => {
    const digests = new UploadDigests();
    const data = bytes(100);
    const first = digests.at('a', 0);
    const second = digests.at('a', 0);
    await second?.add(data);
    digests.forget('a', first);
    expect(await digests.at('a', 100)?.digest()).toBe(sha256(data));
  });
});

describe('the headers of tus', () => {
  const MAX = 1000;
  const read = (method: string, headers: Record<string, string>) =>
    readTusHeaders(method, new Headers({ 'Tus-Resumable': '1.0.0', ...headers }), MAX);
  const statusOf = (method: string, headers: Record<string, string>) => {
    try {
      read(method, headers);
    } catch (error) {
      return (error as { status?: number }).status;
    }
    return undefined;
  };
  const DEFERRED = 'Upload-Defer-Length';

  test.each<[number | undefined, string, Record<string, string>]>([
    [undefined, 'the largest length', { 'Upload-Length': String(MAX) }],
    [undefined, 'no length yet', { [DEFERRED]: '1' }],
    [400, 'no length', {}],
    [400, 'a length and none', { 'Upload-Length': '5', [DEFERRED]: '1' }],
    [400, 'Upload-Defer-Length 2', { [DEFERRED]: '2' }],
    [400, 'Upload-Defer-Length empty', { [DEFERRED]: '' }],
    [400, 'a negative length', { 'Upload-Length': '-1' }],
    [400, 'a length with an exponent', { 'Upload-Length': '1e3' }],
    [400, 'an empty length', { 'Upload-Length': '' }],
    [400, 'two lengths', { 'Upload-Length': '5, 5' }],
    [413, 'a byte more than allowed', { 'Upload-Length': String(MAX + 1) }],
    [413, 'a length of 400 digits', { 'Upload-Length': '9'.repeat(400) }],
    [400, 'a part of an upload', { 'Upload-Length': '5', 'Upload-Concat': 'partial' }],
    [400, 'several made one', { 'Upload-Concat': 'final;/uploads/a /uploads/b' }],
    [412, 'another version of the protocol', { 'Upload-Length': '5', 'Tus-Resumable': '0.2.2' }],
    [412, 'no version of the protocol', { 'Upload-Length': '5', 'Tus-Resumable': '' }],
  ])('answer %s to a new upload with %s', (status, _what, headers) => {
    expect(statusOf('POST', headers)).toBe(status);
  });

  const filename = Buffer.from('a.mp4').toString('base64');
  test.each([
    ['that is not Base64', 'filename a.mp4'],
    ['twice', `a ${filename},a ${filename}`],
    ['without a name', ` ${filename},`],
    ['with a name of every object', '__proto__ YQ=='],
    ['of commas', ',,,'],
    ['that is long', `filename ${'A'.repeat(8184)}`],
  ])('refuse metadata %s', (_what, metadata) => {
    expect(statusOf('POST', { 'Upload-Length': '5', 'Upload-Metadata': metadata })).toBe(400);
  });

  test.each([
    ['blanks after commas', 'filename YS5tcDQ=, flavor YS9i', { filename: 'a.mp4', flavor: 'a/b' }],
    ['nothing at all', '', {}],
    ['a key without a value', 'is_confidential,filename YS5tcDQ=', { is_confidential: null, filename: 'a.mp4' }],
    ['bytes that are no UTF-8', 'filename //79', { filename: '\ufffd\ufffd\ufffd' }],
    ['8192 characters', `abc ${'A'.repeat(8188)}`, { abc: '\0'.repeat(6141) }],
  ])('let metadata pass with %s', (_what, metadata, decoded) => {
    expect(read('POST', { 'Upload-Length': '5', 'Upload-Metadata': metadata }).metadata).toEqual(decoded);
  });

  test.each<[number | undefined, string, Record<string, string>]>([
    [undefined, 'an offset', {}],
    [undefined, 'an offset of 400 digits, which is for others to compare', { 'Upload-Offset': '9'.repeat(400) }],
    [400, 'a negative offset', { 'Upload-Offset': '-1' }],
    [400, 'an offset that is no number', { 'Upload-Offset': 'NaN' }],
    [400, 'an empty offset', { 'Upload-Offset': '' }],
    [400, 'two offsets', { 'Upload-Offset': '100, 100' }],
    [400, 'a length that is none', { 'Upload-Length': 'many' }],
    [413, 'a length beyond all', { 'Upload-Length': '9'.repeat(30) }],
    [400, 'an unknown checksum', { 'Upload-Checksum': 'md4 AAAA' }],
    [400, 'a checksum without Base64', { 'Upload-Checksum': 'sha1' }],
    [400, 'a checksum with three equals signs', { 'Upload-Checksum': 'sha1 A===' }],
    [400, 'a checksum named as what objects have', { 'Upload-Checksum': 'constructor AAAA' }],
  ])('answer %s to more of an upload with %s', (status, _what, headers) => {
    expect(statusOf('PATCH', { 'Upload-Offset': '100', ...headers })).toBe(status);
  });

  test('demand an offset for more of an upload', () => {
    expect(statusOf('PATCH', {})).toBe(400);
  });
});

describe('the part uploads', () => {
  const parse = (value: unknown) =>
    parseUploads(new Map([['uploads', typeof value === 'string' ? value : JSON.stringify(value)]]));
  const id = 'x'.repeat(32);
  const named = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `upload-${i}`, field: 'presenter' }));

  test('holds uploads with their flavors, at most 10', () => {
    expect(parse([{ id, field: 'presenter' }, { id: 'b', flavor: 'a/b' }, { id: 'c' }])).toEqual([
      { id, flavor: 'presenter/source' },
      { id: 'b', flavor: 'a/b' },
      { id: 'c', flavor: undefined },
    ]);
    expect(parse(named(10))).toHaveLength(10);
  });

  test.each(['', '  ', '[]'])('is empty as %j', (text) => {
    expect(parse(text)).toEqual([]);
    expect(parseUploads(new Map())).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['text', 'presenter'],
    ['broken JSON', '[{"id":'],
    ['null', null],
    ['an object', { id, field: 'presenter' }],
    ['a list of names', [id]],
    ['no id', [{ field: 'presenter' }]],
    ['an empty id', [{ id: '', field: 'presenter' }]],
    ['an address in place of the id', [{ id: `http://inlet.test/uploads/${id}`, field: 'presenter' }]],
    ['an id with a NUL', [{ id: 'a\0b', field: 'presenter' }]],
    ['an id of a megabyte', [{ id: 'x'.repeat(1_000_000), field: 'presenter' }]],
    ['an unknown field', [{ id, field: 'track' }]],
    ['a field that every object has', [{ id, field: 'constructor' }]],
    ['a flavor without a slash', [{ id, flavor: 'presenter' }]],
    ['a flavor with a NUL', [{ id, flavor: 'presenter/a\0b' }]],
    ['a flavor that is too long', [{ id, flavor: `${'x'.repeat(200)}/source` }]],
    ['a field and a flavor', [{ id, field: 'presenter', flavor: 'a/b' }]],
    ['one upload twice', [id, id].map((same) => ({ id: same, field: 'presenter' }))],
    ['too many uploads', named(11)],
    ['something very deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('is refused by name as %s', (_what, value) => {
    expect(() => parse(value)).toThrow(expect.objectContaining({ status: 400 }));
    expect(() => parse(value)).toThrow(/^The part 'uploads' cannot be read: .{10,200}\.$/);
  });
});
