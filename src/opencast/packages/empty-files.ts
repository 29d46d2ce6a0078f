import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import type { FilePart } from '#platform/http/form/multipart.ts';

/**
 * A request of whose files those without content are passed over: an agent that is refused for an input that has recorded
 * nothing gives up the others with it.
 *
 * @param counts whether a file of this form field may be passed over; all others are handed on as they are
 * @param onEmpty told of each file that is
 */
export function withoutEmptyFiles(
  request: EndpointRequest,
  counts: (field: string) => boolean,
  onEmpty: (part: FilePart) => void,
): EndpointRequest {
  const files: EndpointRequest['files'] = (limits, onFile, onField) => {
    const handle = async (part: FilePart) => {
      if (!part.isEmpty || !counts(part.field)) return onFile(part);
      part.stream.resume();
      onEmpty(part);
    };
    return request.files(limits, handle, onField);
  };
  return { ...request, files };
}
