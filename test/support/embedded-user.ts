/** Uses the embedded PostgreSQL of a folder until it is killed, as a role does: `node embedded-user.ts FOLDER`. */
import { startEmbedded } from '#platform/database/embedded/start-embedded.ts';

const { databaseUrl } = await startEmbedded(process.argv[2] ?? '');
console.log(databaseUrl);
setInterval(() => undefined, 60_000);
