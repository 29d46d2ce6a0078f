import { describeConnections } from './connections.ts';

describeConnections('deno');
