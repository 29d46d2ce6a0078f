import { startApi } from '#app/app.ts';
import { runProcess } from '#app/process.ts';

/** The API alone. */
await runProcess('api', process.env, startApi);
