import { expect, test } from 'vitest';
import { packageIn } from './zipped-package.ts';

const MANIFEST =
  '<mediapackage><media><track type="presenter/source"><url>a.mp4</url></track></media><metadata><catalog type="smil/cutting"><url>cut.smil</url></catalog></metadata></mediapackage>';
const stored = (name: string) => ({
  ...{ field: name, filename: name, mediatype: 'video/mp4', objectKey: name },
  ...{ size: 1, sha256: '0'.repeat(64) },
});

test.each([
  ['not there', new Map(), []],
  ['empty', new Map([['cut.smil', Buffer.alloc(0)]]), []],
  ['no XML', new Map([['cut.smil', Buffer.from('x')]]), []],
  ['too long', new Map(), ['cut.smil']],
])('a cut that is %s is told of, and costs no recording', async (_, small, long) => {
  const unpacked = {
    small: new Map([['manifest.xml', Buffer.from(MANIFEST)], ...small]),
    stored: new Map(['a.mp4', ...long].map((name) => [name, stored(name)])),
  };
  const { contents, uncut, emptyTracks } = await packageIn(unpacked, {} as never, {} as never);
  expect([uncut, emptyTracks]).toEqual([['cut.smil'], []]);
  expect(contents).toMatchObject({ tracks: [{ flavor: 'presenter/source' }], attachments: [], catalogs: [] });
});
