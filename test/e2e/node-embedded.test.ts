import { describeProduct } from './describe-product.ts';

await describeProduct('node', 'embedded');
