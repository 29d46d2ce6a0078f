import { describe, expect, test } from 'vitest';
import { bytes, sha256 } from '../../support/bytes.ts';
import { eventFields, field, file, type Part } from '../../support/form.ts';
import { tracksOf } from '../../support/publication.ts';
import type { Product, Suite } from '../suite.ts';

/** What became of the file parts of a form. */
async function stored({ admin, server }: Product, parts: readonly Part[]) {
  return tracksOf(server.database, await admin.create(parts));
}

export const forms: Suite = (product) => {
  describe('a form', () => {
    test('may have its parts in any order', async () => {
      const content = bytes(300_000);
      const [acl, metadata, processing] = eventFields();
      if (!acl || !metadata || !processing) throw new Error('A field is missing.');
      const orders = [
        [file('presenter', 'a.mp4', content), processing, metadata, acl],
        [metadata, file('presenter', 'a.mp4', content), acl, processing],
      ];
      for (const parts of orders) {
        expect(await stored(product(), parts)).toMatchObject([
          { flavor: 'presenter/source', filename: 'a.mp4', size: content.length, sha256: sha256(content) },
        ]);
      }
    });

    test('may have several tracks of one kind, which keep their order', async () => {
      const contents = [bytes(200_000, 1), bytes(10, 2), bytes(70_000, 3)];
      const tracks = await stored(product(), [
        ...eventFields(),
        ...contents.map((content, i) => file('presenter', `camera ${i}.mp4`, content)),
      ]);
      expect(tracks).toMatchObject(
        contents.map((content, i) => ({
          flavor: 'presenter/source',
          filename: `camera ${i}.mp4`,
          size: content.length,
          sha256: sha256(content),
        })),
      );
    });

    test('may hold parts without a file name, as web pages send them, and files that mean nothing here', async () => {
      const tracks = await stored(product(), [
        file('presentation', '', new Uint8Array()),
        file('attachment', 'slides.pdf', bytes(1000)),
        ...eventFields(),
        field('acls', '[]'),
        { name: 'presenter', content: bytes(1000) },
        file('audio', 'sound.mp3', bytes(2000)),
      ]);
      expect(tracks).toMatchObject([{ flavor: 'presenter-audio/source', filename: 'sound.mp3', size: 2000 }]);
    });

    test('takes file names as they are', async () => {
      const names = ['Vorlesung über Ψ 講義.mp4', 'a<b>&c%20(d).mp4', 'she said "hi".mp4', "it's.mp4"];
      const tracks = await stored(product(), [
        ...eventFields(),
        ...names.map((name) => file('presenter', name, bytes(100))),
      ]);
      expect(tracks.map(({ filename }) => filename)).toEqual(names);
    });

    test('names no folder with its file names', async () => {
      const tracks = await stored(product(), [...eventFields(), file('presenter', '../../../etc/passwd', bytes(100))]);
      expect(tracks.map(({ filename }) => filename)).toEqual(['passwd']);
    });

    test('may carry metadata of every kind, which come back as they were sent', async () => {
      const { admin } = product();
      const id = await admin.create(
        eventFields({
          title: 'Über "Zahlen" <\u{1F600}>',
          metadata: {
            creator: ['Ada L.', 'Björn & Co'],
            subjects: ['Algebra'],
            description: 'First line\nsecond line',
            startDate: '2026-04-13',
            startTime: '08:15:00Z',
            language: 'deu',
          },
        }),
      );
      expect(await admin.event(id)).toMatchObject({
        title: 'Über "Zahlen" <\u{1F600}>',
        presenter: ['Ada L.', 'Björn & Co'],
        subjects: ['Algebra'],
        description: 'First line\nsecond line',
        start: '2026-04-13T08:15:00Z',
        language: 'deu',
      });
    });
  });
};
