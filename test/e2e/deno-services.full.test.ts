import { describeStack } from './product.ts';

await describeStack('on deno, Redis and S3');
