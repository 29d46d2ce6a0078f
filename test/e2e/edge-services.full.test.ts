import { describeEdge } from './product.ts';

await describeEdge();
