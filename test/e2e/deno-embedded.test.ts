import { describeProduct } from './describe-product.ts';

await describeProduct('deno', 'embedded');
