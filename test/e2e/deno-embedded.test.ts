import { describeStack } from './product.ts';

await describeStack('on deno, embedded');
