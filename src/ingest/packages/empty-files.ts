import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { EndpointRequest } from '../../http/endpoint/endpoint.ts';
import type { FilePart } from '../../http/form/multipart.ts';

/**
 * A request of whose files those without content are passed over: an agent that is refused for an input that has recorded
 * nothing gives up the others with it.
 *
 * @param counts whether a file of this form field is asked for its content; all others are handed on as they are
 * @param onEmpty told of each file that is passed over
 */
export function withoutEmptyFiles(
  request: EndpointRequest,
  counts: (field: string) => boolean,
  onEmpty: (part: FilePart) => void,
): EndpointRequest {
  const files: EndpointRequest['files'] = (limits, onFile, onField) => {
    const handle = async (part: FilePart) => {
      if (counts(part.field) && (await isEmpty(part.stream))) return onEmpty(part);
      return onFile(part);
    };
    return request.files(limits, handle, onField);
  };
  return { ...request, files };
}

/** Whether a stream ends before it brings anything; else it still has all of it, or its failure. */
async function isEmpty(stream: Readable): Promise<boolean> {
  if (stream.destroyed || stream.errored) return false;
  if (stream.readableEnded) return true;
  const decided = new AbortController();
  // One that has been told to end before anybody listens may never say that it can be read.
  const events = ['readable', 'end', 'close'].map((name) => once(stream, name, { signal: decided.signal }));
  await Promise.race(events).finally(() => decided.abort());
  if (stream.destroyed && !stream.readableEnded) return false;
  const first: unknown = stream.read();
  if (first === null) return true;
  stream.unshift(first);
  return false;
}
