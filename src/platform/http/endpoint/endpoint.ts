import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { EVENT_STREAM } from '../answer/event-stream.ts';
import type { ShownRefusal } from '../errors/errors.ts';
import { type FieldList, readFields } from '../form/form.ts';
import { type FilePart, type FormLimits, readForm } from '../form/multipart.ts';
import { type IssueMessage, parseInput } from './endpoint-schemas.ts';
import { type Rule, routerPath } from './rules.ts';

const MAX_SHOWN = 100;

/** The declaration of an endpoint, as the reference document shows it. */
export interface Description extends Rule {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options';
  /** A few words without a full stop. Endpoints without a summary are pages and not in the reference. */
  summary?: string;
  /** Replaces the name that generated clients derive from method and path, where it is taken. */
  operationId?: string;
  /** Markdown. */
  description?: string;
  params?: Readonly<Record<string, z.ZodType>>;
  query?: z.ZodObject;
  form?: Form;
  /** The header for safe repetition, and its refusals. */
  repeatable?: { headers: z.ZodObject; refusals: readonly ShownRefusal[] };
  answers?: Readonly<Record<number, Answer>>;
  /** Refusals of this endpoint. Those of every endpoint are not repeated. */
  refusals?: readonly ShownRefusal[];
}

export interface Form {
  schema: z.ZodObject;
  /** Parts whose files are streamed, or `any`; other files are dropped. Requires multipart. */
  streams?: readonly string[] | 'any';
  /** True if clients may send any field as a file, which is streamed and read as the field. */
  fieldsAsFiles?: boolean;
  /** Maximum length without files; 1 MiB by default. */
  maxBytes?: number;
  /** The fields of one whole request, without files. */
  example: Readonly<Record<string, string>>;
  /** Alternatives to the form, by media type. */
  bodies?: Readonly<Record<string, { schema: z.ZodType; example: unknown }>>;
}

export interface Answer {
  description: string;
  body?: z.ZodType;
  example?: unknown;
  headers?: z.ZodObject;
  /** True for a file instead of JSON. */
  binary?: boolean;
  /** True if the media type is `application/json` in every version. */
  plain?: boolean;
  /** True if browsers get a page instead. */
  page?: boolean;
  /** The media type of a text response. */
  mediaType?:
    | 'text/plain; charset=utf-8'
    | 'text/xml; charset=utf-8'
    | 'text/calendar; charset=UTF-8'
    | typeof EVENT_STREAM;
}

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** A request as a handler reads it. Everything is read on demand, so refusals come in the handler's order. */
export interface EndpointRequest<
  Path extends string = string,
  Query extends z.ZodObject = z.ZodObject,
  Fields extends z.ZodObject = z.ZodObject,
> {
  c: Context;
  params: Readonly<Record<NamesIn<Path>, string>>;
  /** @throws {HttpError} 400 with the message of the query's schema */
  query(): z.output<Query>;
  /** Reads the fields of the form; files are ignored. @throws {HttpError} 400, and as `readFields` */
  form(): Promise<z.output<Fields>>;
  /** Reads the last value of each field, unchecked. */
  fields(): Promise<ReadonlyMap<string, string>>;
  /** Reads every value of every field, unchecked. */
  fieldList(): Promise<Readonly<FieldList>>;
  /** Streams the files of the declared parts, as `readForm` does. */
  files(
    limits: FormLimits,
    onFile: (part: FilePart) => Promise<void>,
    onField?: (name: string, value: string) => void,
  ): Promise<Map<string, string>>;
}

export interface Endpoint<Services = never> extends Description {
  handle(request: EndpointRequest, services: Services): Response | Promise<Response>;
}

/**
 * Declares an endpoint beside its handler. The router, roles, versions, the reference document and the tests of bad
 * input follow from the declaration.
 *
 * Our own, because neither `hono-openapi` nor `@hono/zod-openapi` supports streamed multipart, errors that are plain
 * sentences, or versioned media types.
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
    throw new Error(
      `The endpoint ${declaration.path} must describe its path parameters, not ${described.join() || 'none'}.`,
    );
  }
  return declaration as unknown as Endpoint<Services>;
}

/** Adds routes. The router cannot tell `{name}.json` from `{name}.xml`: a handler passes on other suffixes. */
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

/** Returns the text after the last parameter of a path, in the same segment. */
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
    query: () => (query ? parseInput(query, c.req.query()) : {}),
    fields: read,
    fieldList: readList,
    form: async () => (form ? parseInput(form.schema, Object.fromEntries(await read()), complaint) : {}),
    files: (limits, onFile, onField) =>
      readForm(c.req.raw, limits, onFile, {
        onField,
        wants: (field) => fieldsAsFiles || streams === 'any' || streams.includes(field),
        isForFile: (field) => (streams === 'any' ? !isText(form, field) : streams.includes(field)),
      }),
  };
}

/** Returns true if a field is declared as text, which may hold JSON; undeclared fields are text if the catchall is. */
function isText(form: Form | undefined, field: string): boolean {
  const { shape = {}, def } = form?.schema ?? {};
  if (!Object.hasOwn(shape, field)) return def?.catchall instanceof z.ZodString;
  const type = shape[field]?.meta()?.contentMediaType;
  return type === undefined || type === 'application/json';
}

/** The router returns the whole segment of `{name}.json`; a segment with another suffix names nothing. */
function paramsOf(c: Context, path: string): Record<string, string> {
  const params = c.req.param() as Record<string, string>;
  const suffix = suffixOf(path);
  if (!suffix) return params;
  const value = params[suffix.name] ?? '';
  return { ...params, [suffix.name]: value.endsWith(suffix.text) ? value.slice(0, -suffix.text.length) : '' };
}

/** Describes a field whose schema has no message. */
const complaint: IssueMessage = ({ code, input, path = [], ...issue }) => {
  const name = String(path.at(-1));
  if (input === undefined) return `Missing form parameter '${name}'`;
  const given = JSON.stringify(String(input).slice(0, MAX_SHOWN));
  const allowed = 'values' in issue && Array.isArray(issue.values) ? issue.values.join(', ') : undefined;
  return code === 'invalid_value' && allowed
    ? `The form parameter '${name}' is ${given}; allowed are ${allowed}.`
    : undefined;
};
