import { describeProduct } from './product.ts';

await describeProduct('node', 'embedded');
