import { startApi } from '#app/app.ts';
import { runProcess } from '#app/entry.ts';
import { startWorkerProcess } from '#workers/start.ts';

/** API, relay and workers in one process: the embedded default. */
await runProcess('all', process.env, startApi, startWorkerProcess);
