import { describeConnections } from './connections.ts';
import { testLogFormat } from './log-format.ts';
import { describeMetrics } from './metrics.ts';
import { describePermissions } from './permissions.ts';
import { describeShutdown } from './shutdown.ts';

describeConnections('node');
describePermissions('main');
describeShutdown('deno', 'rest');
describeShutdown('node', 'all');
describeMetrics('node');
testLogFormat('node');
