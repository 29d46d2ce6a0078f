import { DOCUMENT, type Operation, responseOf } from './openapi.ts';

interface Call {
  /** Values of the path's parameters; the example of those that are missing. */
  path?: Record<string, string>;
  /** Whether to send the examples of optional query parameters, too. */
  query?: boolean;
  accept?: string;
  /** A field of the form to leave out. */
  without?: string;
}

/** A client built from the OpenAPI document: requests are its examples, encoded as it says. */
export class DocumentedClient {
  readonly #send: (path: string, init: RequestInit) => Promise<Response>;

  constructor(send: (path: string, init: RequestInit) => Promise<Response>) {
    this.#send = send;
  }

  /** Sends the example of an operation. */
  async call(operationId: string, call: Call = {}) {
    const { method, path, operation } = this.#find(operationId);
    const body = formOf(operation);
    if (call.without) body?.delete(call.without);
    const answer = await this.#send(fill(path, operation, call), {
      method: method.toUpperCase(),
      headers: call.accept ? { Accept: call.accept } : {},
      ...(body && { body }),
    });
    const text = await answer.text();
    const type = answer.headers.get('Content-Type') ?? '';
    return {
      status: answer.status,
      type,
      json: type.includes('json') ? (JSON.parse(text) as unknown) : undefined,
    };
  }

  /** The fields of an operation's example. */
  example(operationId: string): Record<string, string> {
    return exampleOf(this.#find(operationId).operation)?.example ?? {};
  }

  /** What the operation can answer in. */
  mediaTypes(operationId: string): string[] {
    return Object.keys(responseOf(this.#find(operationId).operation, 200)?.content ?? {});
  }

  #find(operationId: string) {
    for (const [path, operations] of Object.entries(DOCUMENT.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        if (operation.operationId === operationId) return { method, path, operation };
      }
    }
    throw new Error(`The document has no operation ${operationId}.`);
  }
}

function fill(path: string, { parameters = [] }: Operation, call: Call): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const example = parameters.find((each) => each.name === name)?.schema.example;
    return encodeURIComponent(call.path?.[name] ?? String(example));
  });
  const query = new URLSearchParams();
  for (const { in: place, name, required, schema } of parameters) {
    if (place !== 'query' || !(required || call.query)) continue;
    if (schema.example !== undefined) query.set(name, String(schema.example));
  }
  return query.size > 0 ? `${filled}?${query}` : filled;
}

function formOf(operation: Operation): FormData | URLSearchParams | undefined {
  const chosen = exampleOf(operation);
  if (!chosen) return undefined;
  if (chosen.type !== 'multipart/form-data') return new URLSearchParams(chosen.example);
  const form = new FormData();
  for (const [name, value] of Object.entries(chosen.example)) form.append(name, value);
  return form;
}

function exampleOf({ requestBody }: Operation) {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return type && media ? { type, example: media.example } : undefined;
}
