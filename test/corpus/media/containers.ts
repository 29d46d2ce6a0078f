import { type Hostile, latin1, patched, repeated, smallClip, uint32, uint32le } from './hostile.ts';

/** AVI, FLV, Ogg, MXF, Windows Media, MPEG: the other containers. */
export async function hostileContainers(): Promise<Hostile[]> {
  const [avi, flv, ogg, mxf, wmv, ts, mpg] = await Promise.all([
    smallClip('avi'),
    smallClip('flv'),
    smallClip('ogg'),
    smallClip('mxf'),
    smallClip('wmv'),
    smallClip('ts'),
    smallClip('mpg'),
  ]);
  const files: Record<string, Uint8Array> = {
    'an AVI with ten thousand streams': aviOf(list('hdrl', avih(10_000), repeated(10_000, strl()))),
    'an AVI with pictures of 65535 by 65535': patched(avi, 'strf', 12, uint32le(65_535, 65_535)),
    'an AVI with a frame every two thousand million seconds': patched(avi, 'strh', 28, uint32le(0x7fff_ffff, 1)),
    'an AVI with two thousand million frames a second': patched(avi, 'strh', 28, uint32le(1, 0x7fff_ffff)),
    'an AVI without a time scale': patched(avi, 'strh', 28, uint32le(0, 0)),
    'an AVI of lists in lists': aviOf(repeated(50_000, Buffer.concat([latin1('LIST'), uint32le(4), latin1('hdrl')]))),
    'an AVI with an index of gigabytes': patched(avi, 'idx1', 4, uint32le(0x7fff_fff0)),
    'a Flash video with data in data, fifty thousand deep': flvOf(18, repeated(50_000, latin1('\x03\0\x01a'))),
    'a Flash video with a list of four thousand million': flvOf(
      18,
      Buffer.concat([latin1('\x02\0\nonMetaData\x08'), uint32(0xffff_ffff)]),
    ),
    'a Flash video of tags without anything': Buffer.concat([flv.subarray(0, 13), Buffer.alloc(300_000)]),
    'a Flash video whose last time is far away': lastTagLater(flv),
    'an Ogg file of ten thousand streams': Buffer.concat(Array.from({ length: 10_000 }, (_, i) => page(i, 2, speex()))),
    'an Ogg file of a stream after the other': Buffer.concat(Array.from({ length: 5 }, () => ogg)),
    'an Ogg file with a header and no sound': ogg.subarray(0, ogg.lastIndexOf('OggS', 600)),
    'an Ogg file of empty pages': Buffer.concat([page(1, 2, speex()), repeated(20_000, page(1, 0, Buffer.alloc(0)))]),
    'an MXF file with a table of four thousand million': patched(
      mxf,
      '\x0d\x01\x02\x01\x01\x05',
      20,
      uint32(0xffff_ffff),
    ),
    'an MXF file with nothing but a header': mxf.subarray(0, 3000),
    'Windows Media with objects of no length': Buffer.concat([wmv.subarray(0, 30), Buffer.alloc(200_000)]),
    'Windows Media with objects of exabytes': patched(wmv, '\xa1\xdc\xab\x8c', 16, Buffer.alloc(8, 0x7f)),
    'Windows Media with packets of four gigabytes': patched(wmv, '\xa1\xdc\xab\x8c', 92, Buffer.alloc(8, 0xff)),
    'a transport stream of one packet again and again': repeated(5000, ts.subarray(0, 188)),
    'a transport stream of noise': noisyPackets(3000),
    'a transport stream whose times jump': Buffer.concat([ts, shifted(ts), ts]),
    'a program stream of headers only': repeated(20_000, mpg.subarray(0, 12)),
    'a program stream of noise': Buffer.concat([
      mpg.subarray(0, 2048),
      Buffer.from(mpg.subarray(2048)).map((byte) => byte ^ 0x5a),
    ]),
  };
  return Object.entries(files).map(([name, bytes]) => ({ name, bytes }));
}

function chunk(type: string, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([latin1(type), uint32le(body.length), body]);
}

function list(type: string, ...content: Uint8Array[]): Buffer {
  return chunk('LIST', latin1(type), ...content);
}

function aviOf(...content: Uint8Array[]): Buffer {
  return chunk('RIFF', latin1('AVI '), ...content);
}

function avih(streams: number): Buffer {
  return chunk('avih', uint32le(40_000, 0, 0, 0, 10, 0, streams, 0, 64, 48, 0, 0, 0, 0));
}

function strl(): Buffer {
  const strh = chunk('strh', latin1('auds'), uint32le(0, 0, 0, 0, 1, 8000, 0, 0, 0, 0, 0, 0, 0));
  return list('strl', strh, chunk('strf', Buffer.from([1, 0, 1, 0, 64, 31, 0, 0, 64, 31, 0, 0, 1, 0, 8, 0])));
}

function flvOf(type: number, data: Uint8Array): Buffer {
  const header = Buffer.from([type, data.length >> 16, data.length >> 8, data.length, 0, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([latin1('FLV\x01\x05\0\0\0\x09\0\0\0\0'), header, data, uint32(data.length + 11)]);
}

/** The last frame comes three weeks after the others. */
function lastTagLater(flv: Buffer): Buffer {
  const copy = Buffer.from(flv);
  const at = copy.length - 4 - copy.readUInt32BE(copy.length - 4);
  copy.set([0xff, 0xff, 0xff, 0x6f], at + 4);
  return copy;
}

function page(serial: number, flags: number, data: Uint8Array): Buffer {
  const header = Buffer.concat([latin1('OggS\0'), Buffer.from([flags]), Buffer.alloc(8), uint32le(serial, 0, 0)]);
  return Buffer.concat([header, Buffer.from([1, data.length]), data]);
}

function speex(): Buffer {
  return Buffer.concat([latin1('Speex   1.2'), Buffer.alloc(17), uint32le(1, 80, 16_000, 1, 4, 1, 0, 320)]);
}

function noisyPackets(count: number): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, (_, i) => {
      const packet = Buffer.alloc(188, (i * 73) % 251);
      packet.set([0x47, 0x40 | ((i >> 8) & 0x1f), i & 0xff, 0x10 | (i & 15), 0, 0, 0, 1, 0xe0]);
      return packet;
    }),
  );
}

/** The times of a transport stream, moved by hours. */
function shifted(ts: Buffer): Buffer {
  const copy = Buffer.from(ts);
  for (let at = 0; at + 188 <= copy.length; at += 188) {
    const pes = copy.subarray(at, at + 188).indexOf(Buffer.from([0, 0, 1]));
    const time = at + pes + 9;
    if (pes > 0 && ((copy[time - 2] ?? 0) & 0x80) !== 0) copy[time] = (copy[time] ?? 0) | 0x0e;
  }
  return copy;
}
