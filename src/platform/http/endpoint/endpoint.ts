import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { EVENT_STREAM } from '../answer/event-stream.ts';
import type { ShownRefusal } from '../errors/refusal.ts';
import { type FieldList, readFields } from '../form/form.ts';
import { type FilePart, type FormLimits, readForm } from '../form/multipart.ts';
import { type Complaint, checked } from './check.ts';
import { type Rule, routerPath } from './rules.ts';

const MAX_SHOWN = 100;

/** What a request to an endpoint may hold, what it may get, and who may ask: all that the reference document tells. */
export interface Description extends Rule {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options';
  /** A few words without a full stop; an endpoint without them is a page, and stands in no reference. */
  summary?: string;
  /** What generated clients call it, where another one has the name that its method and path make. */
  operationId?: string;
  /** What one has to know; Markdown. */
  description?: string;
  /** What stands in the path between braces. */
  params?: Readonly<Record<string, z.ZodType>>;
  query?: z.ZodObject;
  form?: Form;
  /** How a request may be repeated without doing its work twice; its header and what it refuses. */
  repeatable?: { headers: z.ZodObject; refusals: readonly ShownRefusal[] };
  /** What it answers to a request that it understands and grants, by status. */
  answers?: Readonly<Record<number, Answer>>;
  /** Why it refuses a request. What every endpoint may refuse is not repeated. */
  refusals?: readonly ShownRefusal[];
}

/** A request body of form fields. */
export interface Form {
  schema: z.ZodObject;
  /** The parts whose files are streamed, or `any`; files in other parts are read and dropped. They need multipart. */
  streams?: readonly string[] | 'any';
  /** Whether clients may send any field as a file, which is streamed then, to be read as the field. */
  fieldsAsFiles?: boolean;
  /** How long it may be, without files; 1 MiB unless given. */
  maxBytes?: number;
  /** The fields of one whole request. Files are left out. */
  example: Readonly<Record<string, string>>;
  /** What may be sent in place of the form, by media type. */
  bodies?: Readonly<Record<string, { schema: z.ZodType; example: unknown }>>;
}

export interface Answer {
  description: string;
  /** Absent for one without a body. */
  body?: z.ZodType;
  example?: unknown;
  headers?: z.ZodObject;
  /** Whether it is a file instead of JSON. */
  binary?: boolean;
  /** Whether its media type is `application/json` in every version. */
  plain?: boolean;
  /** Whether browsers get a page in its place. */
  page?: boolean;
  /** Of an answer that is text instead of JSON. */
  mediaType?:
    | 'text/plain; charset=utf-8'
    | 'text/xml; charset=utf-8'
    | 'text/calendar; charset=UTF-8'
    | typeof EVENT_STREAM;
}

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** A request as a handler reads it. Nothing is read before it is asked for, so refusals come in the handler's order. */
export interface EndpointRequest<
  Path extends string = string,
  Query extends z.ZodObject = z.ZodObject,
  Fields extends z.ZodObject = z.ZodObject,
> {
  c: Context;
  params: Readonly<Record<NamesIn<Path>, string>>;
  /** @throws {HttpError} 400 with the message of the query's schema */
  query(): z.output<Query>;
  /**
   * The fields of the form; its files are ignored.
   *
   * @throws {HttpError} 400 with the message of the form's schema, and as `readFields`
   */
  form(): Promise<z.output<Fields>>;
  /** The fields as they were sent, for handlers that read them in an order of their own. */
  fields(): Promise<ReadonlyMap<string, string>>;
  /** The same, but each field as often as it was sent. */
  fieldList(): Promise<Readonly<FieldList>>;
  /** Streams the files of the declared parts, as `readForm` does. */
  files(
    limits: FormLimits,
    onFile: (part: FilePart) => Promise<void>,
    onField?: (name: string, value: string) => void,
  ): Promise<Map<string, string>>;
}

/** One operation of the server: how it is reached, by whom, what it takes and answers, and what it does. */
export interface Endpoint<Services = never> extends Description {
  handle(request: EndpointRequest, services: Services): Response | Promise<Response>;
}

/**
 * Declares an endpoint beside its handler. Router, roles, versions, the reference document and the tests of bad input
 * follow from the declaration.
 *
 * Of our own, because neither `hono-openapi` nor `@hono/zod-openapi` carries streamed multipart (their validators hold
 * whole forms in memory), refusals that are bare sentences, or media types that tell versions apart.
 */
export function defineEndpoint<
  Services,
  Path extends string,
  Query extends z.ZodObject = z.ZodObject,
  Fields extends z.ZodObject = z.ZodObject,
>(
  declaration: Omit<Description, 'params' | 'query' | 'form'> & {
    path: Path;
    params?: Readonly<Record<NamesIn<Path>, z.ZodType>>;
    query?: Query;
    form?: Omit<Form, 'schema'> & { schema: Fields };
    handle(request: EndpointRequest<Path, Query, Fields>, services: Services): Response | Promise<Response>;
  },
): Endpoint<Services> {
  const named = [...declaration.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const described = Object.keys(declaration.params ?? {});
  if (declaration.summary && named.join() !== described.join()) {
    throw new Error(`The endpoint ${declaration.path} describes the parameters ${described.join() || 'none'}.`);
  }
  return declaration as unknown as Endpoint<Services>;
}

/**
 * Adds the routes of endpoints. To the router `{name}.json` and `{name}.xml` are the same: where there are several of
 * them, what does not end as one says is left to the next.
 */
export function addEndpoints<Services>(app: Hono, endpoints: readonly Endpoint<Services>[], services: Services): void {
  const routes = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${routerPath(path)}`);
  for (const [i, endpoint] of endpoints.entries()) {
    const suffix = suffixOf(endpoint.path);
    const passesOn = suffix && routes.indexOf(routes[i] ?? '', i + 1) > i ? suffix : undefined;
    app.on(endpoint.method.toUpperCase(), routerPath(endpoint.path), (c, next) => {
      if (passesOn && !c.req.param(passesOn.name)?.endsWith(passesOn.text)) return next();
      c.set('route', endpoint.path);
      return endpoint.handle(requestOf(c, endpoint), services);
    });
  }
}

/** What follows the last parameter of a path in the same segment. */
function suffixOf(path: string): { name: string; text: string } | undefined {
  const [, name, text] = /\{(\w+)\}([^/{}]+)$/.exec(path) ?? [];
  return name === undefined || text === undefined ? undefined : { name, text };
}

function requestOf(c: Context, { query, form, path }: Description): EndpointRequest {
  let list: Promise<FieldList> | undefined;
  const readList = () => (list ??= readFields(c.req.raw, form?.maxBytes));
  const read = async () => new Map(await readList());
  const { streams = [], fieldsAsFiles = false } = form ?? {};
  return {
    c,
    params: paramsOf(c, path),
    query: () => (query ? checked(query, c.req.query()) : {}),
    fields: read,
    fieldList: readList,
    form: async () => (form ? checked(form.schema, Object.fromEntries(await read()), complaint) : {}),
    files: (limits, onFile, onField) =>
      readForm(c.req.raw, limits, onFile, {
        onField,
        wants: (field) => fieldsAsFiles || streams === 'any' || streams.includes(field),
        isForFile: (field) => (streams === 'any' ? !isText(form, field) : streams.includes(field)),
      }),
  };
}

/** Whether a field is declared to be a text, which may hold JSON; all others together are, where they have to be texts. */
function isText(form: Form | undefined, field: string): boolean {
  const { shape = {}, def } = form?.schema ?? {};
  if (!Object.hasOwn(shape, field)) return def?.catchall instanceof z.ZodString;
  const type = shape[field]?.meta()?.contentMediaType;
  return type === undefined || type === 'application/json';
}

/** Of a segment such as `{name}.json`, the router has the whole; one that ends otherwise names nothing. */
function paramsOf(c: Context, path: string): Record<string, string> {
  const params = c.req.param() as Record<string, string>;
  const suffix = suffixOf(path);
  if (!suffix) return params;
  const value = params[suffix.name] ?? '';
  return { ...params, [suffix.name]: value.endsWith(suffix.text) ? value.slice(0, -suffix.text.length) : '' };
}

/** What is wrong with a field whose schema has no sentence of its own for it. */
const complaint: Complaint = ({ code, input, path = [], ...issue }) => {
  const name = String(path.at(-1));
  if (input === undefined) return `Missing form parameter '${name}'`;
  const given = JSON.stringify(String(input).slice(0, MAX_SHOWN));
  const allowed = 'values' in issue && Array.isArray(issue.values) ? issue.values.join(', ') : undefined;
  return code === 'invalid_value' && allowed
    ? `The form parameter '${name}' is ${given}; allowed are ${allowed}.`
    : undefined;
};
