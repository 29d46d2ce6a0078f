import { captions } from './captions.ts';
import { command } from './command.ts';
import { cut } from './cut.ts';
import { encode } from './encode.ts';
import { inspect } from './inspect.ts';
import { noop } from './noop.ts';
import type { Operation } from './operation.ts';
import { preview } from './preview.ts';
import { publish, republish, retract } from './publishing.ts';

/** Every operation a workflow definition may name, by name. A new one is a file here and a line below. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  [inspect, cut, encode, preview, captions, publish, republish, retract, command, noop].map((operation) => [
    operation.name,
    operation,
  ]),
);
