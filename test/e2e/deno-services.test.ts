import { describeProduct } from './describe-product.ts';

await describeProduct('deno', 'Redis and S3');
