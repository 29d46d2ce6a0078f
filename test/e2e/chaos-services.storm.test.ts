import { describeChaos } from './chaos.ts';

await describeChaos('node', 'Redis and S3');
