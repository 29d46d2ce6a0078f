import { runProcess } from '#app/process.ts';
import { startWorkerProcess } from './start-worker.ts';

/** Relay, workers and reconciler, without the API. */
await runProcess('worker', process.env, startWorkerProcess);
