import { describeProduct } from './product.ts';

await describeProduct('node', 'Redis and S3');
