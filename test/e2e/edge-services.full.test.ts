import { describeStack } from './product.ts';

await describeStack("behind Deno's own server");
