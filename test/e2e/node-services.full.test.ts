import { describeStack } from './product.ts';

await describeStack('on node, Redis and S3');
