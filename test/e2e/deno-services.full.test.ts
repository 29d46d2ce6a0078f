import { describeProduct } from './product.ts';

await describeProduct('deno', 'Redis and S3');
