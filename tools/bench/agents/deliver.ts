import { type ApiAddress, ask, type TrackSource } from '../support/http-client.ts';

const BOUNDARY = 'bench-track';

/** Sends a track as pyCA does: a new media package, and one form with the package, the flavor and the file. */
export async function deliverTrack(api: ApiAddress, track: TrackSource): Promise<void> {
  const { body: mediaPackage } = await ask(api, '/ingest/createMediaPackage');
  const field = (name: string, value: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const head = Buffer.from(
    `${field('mediaPackage', mediaPackage)}${field('flavor', 'presenter/source')}--${BOUNDARY}\r\nContent-Disposition: form-data; name="BODY1"; filename="${track.filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  const headers = {
    'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
    'Content-Length': head.length + track.bytes + tail.length,
  };
  const { status, body } = await ask(api, '/ingest/addTrack', { method: 'POST', headers }, async function* () {
    yield head;
    yield* track.content();
    yield tail;
  });
  if (status !== 200) throw new Error(`POST /ingest/addTrack answered ${status}: ${body}`);
}
