import { describeProduct } from './product.ts';

await describeProduct('deno', 'embedded');
