import { runProcess } from '#app/entry.ts';
import { startWorkerProcess } from './start.ts';

/** Relay, workers and reconciler, without the API. */
await runProcess('worker', process.env, startWorkerProcess);
