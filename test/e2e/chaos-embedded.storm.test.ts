import { describeChaos } from './chaos.ts';

await describeChaos('deno', 'embedded');
