import { startApi } from '#app/app.ts';
import { runProcess } from '#app/process.ts';
import { startWorkerProcess } from '#workers/start-worker.ts';

/** API, relay and workers in one process: the embedded default. */
await runProcess('all', process.env, startApi, startWorkerProcess);
