import { describeProduct } from './describe-product.ts';

await describeProduct('node', 'Redis and S3');
