import { Readable } from 'node:stream';
import { folderPlace } from '#platform/storage/folder.ts';
import { bucketPlace } from '#platform/storage/s3-backend.ts';

/**
 * Puts one object from a process of its own, to be killed or run under limits:
 * `node put-process.ts DATA_DIR BUCKET KEY BYTES [stall]`, where an empty BUCKET means the folder. With `stall` the
 * source never ends. Prints the outcome as JSON.
 */
const [, , dataDir = '', bucket = '', key = '', bytes = '0', stall] = process.argv;
const CHUNK = Buffer.alloc(2 ** 20, 7);

const place = bucket ? bucketPlace({ bucket, forcePathStyle: true }) : folderPlace(dataDir);
const storage = await place.open();
let sent = 0;
const body = new Readable({
  read() {
    if (sent < Number(bytes)) {
      sent += CHUNK.length;
      this.push(CHUNK);
    } else if (!stall) this.push(null);
  },
});
// A source that waits for ever keeps no process alive by itself.
const alive = setInterval(() => undefined, 1000);
try {
  await storage.put(key, body, { mediatype: 'video/mp4', expectedBytes: Number(bytes) });
  console.log(JSON.stringify({ stored: true }));
} catch (error) {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : String(error);
  console.log(JSON.stringify({ stored: false, code, sourceDestroyed: body.destroyed }));
} finally {
  clearInterval(alive);
  await storage.close();
}
