import { testLogFormat } from './log-format.ts';
import { describeMetrics } from './metrics.ts';
import { describePermissions } from './permissions.ts';
import { describeShutdown } from './shutdown.ts';

describeShutdown('deno', 'first');
describeMetrics('deno');
describePermissions('api');
describePermissions('worker');
testLogFormat('deno');
