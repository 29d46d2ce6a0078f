import { expect, test } from 'vitest';
import { ownApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { recording } from '../support/clips.ts';
import { eventFields, field } from '../support/form.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { processEvent } from '../support/process-event.ts';
import { uploadOf } from '../support/tus.ts';

const app = await ownApp();

const CUTTING = `<smil xmlns="http://www.w3.org/ns/SMIL"><body><par>
  <video src="video.webm" clipBegin="0.5s" clipEnd="2s"/>
</par></body></smil>`;

test('an event with a cutting catalog ends SUCCEEDED, and the cut recording is published', async () => {
  const tracks = [
    await uploadOf(app, await recording({ seconds: 3 })),
    await uploadOf(app, await recording({ seconds: 3, container: 'webm', audio: false })),
  ];
  const fields = tracks.map((id, i) => ({ id, field: ['presenter', 'presentation'][i] }));
  const id = await created(await post(app, [...eventFields(), field('uploads', JSON.stringify(fields))]));
  await app.database
    .insertInto('event_documents')
    .values({ event_id: id, flavor: 'smil/cutting', filename: 'cutting.smil', content: CUTTING })
    .execute();
  await processEvent(app, id);
  const json = async (path: string) => (await app.request(path)).json();
  const event = (await json(`/api/events/${id}?withpublications=true`)) as {
    publications: { media: { flavor: string; mediatype: string; duration: number }[] }[];
  };
  expect(event).toMatchObject({ processing_state: 'SUCCEEDED', duration: 1500 });
  const media = event.publications.flatMap((publication) => publication.media);
  expect(media.map(({ flavor, mediatype }) => `${flavor} ${mediatype}`).sort()).toEqual([
    'presentation/delivery application/x-mpegURL',
    'presentation/delivery video/mp4',
    'presenter/delivery application/x-mpegURL',
    'presenter/delivery video/mp4',
  ]);
  for (const { duration } of media) expect(Math.abs(duration - 1500)).toBeLessThan(50);
  await app.context.staging.sweep(undefined);
  await expectNothingLeftOver(app);
});
