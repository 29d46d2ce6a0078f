import { describeStack } from './product.ts';

await describeStack('on node, embedded');
