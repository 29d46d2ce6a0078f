import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { REFERENCE } from '#app/routes.ts';
import { buildDocument } from '#openapi/document.ts';
import { EVENT_STREAM } from '#platform/http/answer/event-stream.ts';
import { type ApiVersion, atLeast, NEWEST_VERSION } from '#platform/http/answer/version.ts';

/** What the checks read of an operation. */
export interface Operation {
  operationId: string;
  tags: string[];
  security?: unknown[];
  parameters?: { in: string; name: string; required?: boolean; example?: unknown; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema; example: Record<string, string> }> };
  responses: Record<string, ResponseObject>;
}

export type Schema = Record<string, unknown>;

interface ResponseObject {
  $ref?: string;
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, { schema?: Schema; example?: unknown }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, ResponseObject>; schemas: Record<string, Schema> };
}

/** What the document is about. */
export const AREAS =
  /^\/(?:(?:api|capture-admin|recordings|ingest|services|info|sysinfo|org|series|studio-api|admin-ng|workflow|search|editor|tobira|health|uploads|direct-uploads)(?:[/.]|$)|$)/;

/** The document of the API as tests read it. */
export const DOCUMENT = JSON.parse(JSON.stringify(buildDocument(REFERENCE))) as Document;

const VERSIONED = /^application\/v(\d+\.\d+\.\d+)\+json$/;
/** Answers of the router and of the layers before it, to whatever path and method. */
const ANYWHERE = [401, 403, 404, 405, 406, 412, 429, 500, 503];

const ROUTES = Object.entries(DOCUMENT.paths).map(([path, operations]) => ({
  path,
  operations,
  /** Characters that are not of parameters; of a path without any, more than any other can have. */
  literals: path.includes('{') ? path.replace(/\{\w+\}/g, '').length : Number.POSITIVE_INFINITY,
  pattern: new RegExp(
    `^${path
      .split(/\{\w+\}/)
      .map((text) => text.replace(/[.]/g, '\\.'))
      .join('[^/]+')}$`,
  ),
}));

/**
 * Fails when an answer of the API is not what its document promises: status, media type, headers and body, for the
 * version the answer is in. Answers to pages are not looked at.
 */
export async function checkAnswer(method: string, url: string, answer: Response): Promise<void> {
  const path = pathOf(url);
  if (!AREAS.test(path)) return;
  // What browsers ask before is answered by a layer of its own.
  if (method === 'OPTIONS' && answer.headers.has('Access-Control-Allow-Methods')) return;
  const operation = operationAt(method, path);
  const fault = operation ? await faultOf(operation, method, answer) : await faultOfUnknown(answer);
  if (fault) {
    throw new Error(`${method} ${path} answered ${answer.status}, which the OpenAPI document does not allow: ${fault}`);
  }
}

/** The operation a request reaches, by the document. */
function operationAt(method: string, path: string): Operation | undefined {
  const name = method.toLowerCase();
  const verb = name === 'head' ? 'get' : name;
  const matching = ROUTES.filter(({ pattern, operations }) => pattern.test(path) && verb in operations);
  // A literal path comes before a pattern, and `{name}.json` before `{name}`.
  const [route] = matching.sort((a, b) => b.literals - a.literals);
  return route?.operations[verb];
}

/** The response a status has, with references followed. */
export function responseOf(operation: Operation, status: number): ResponseObject | undefined {
  const response = operation.responses[status];
  if (!response?.$ref) return response;
  return DOCUMENT.components.responses[response.$ref.split('/').at(-1) ?? ''];
}

/** What a body does not have of its schema, or undefined when it fits. */
export function faultOfBody(schema: Schema, body: unknown, version: ApiVersion = NEWEST_VERSION): string | undefined {
  const validate = validator(schema, version);
  if (validate(body)) return undefined;
  const faults = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`,
  );
  return faults.slice(0, 5).join('; ');
}

async function faultOf(operation: Operation, method: string, answer: Response): Promise<string | undefined> {
  const response = responseOf(operation, answer.status);
  if (!response) return answer.status === 405 ? undefined : 'there is no such status';
  for (const [name, { required }] of Object.entries(response.headers ?? {})) {
    if (required && !answer.headers.has(name)) return `the header ${name} is missing`;
  }
  if (method.toUpperCase() === 'HEAD') return undefined;
  if (!response.content) {
    return (await answer.clone().text()) === '' ? undefined : 'it has a body';
  }
  if (response.content['*/*']) return undefined;
  return faultOfContent(response.content, answer);
}

async function faultOfContent(
  content: NonNullable<ResponseObject['content']>,
  answer: Response,
): Promise<string | undefined> {
  const type = answer.headers.get('Content-Type') ?? '';
  // It has no end.
  if (type === EVENT_STREAM && content[type]) return undefined;
  const text = await answer.clone().text();
  // A refusal without a sentence has no media type either.
  if (answer.status >= 400 && text === '' && type === '') return undefined;
  const media = content[type];
  if (!media) return `the media type is ${JSON.stringify(type)}`;
  if (!media.schema || type.startsWith('text/')) return undefined;
  return faultOfBody(media.schema, JSON.parse(text), VERSIONED.exec(type)?.[1] as ApiVersion | undefined);
}

async function faultOfUnknown(answer: Response): Promise<string | undefined> {
  if (!ANYWHERE.includes(answer.status)) return 'it does not have this path and method';
  const type = answer.headers.get('Content-Type');
  return type === 'text/plain; charset=utf-8' ? undefined : `the media type is ${JSON.stringify(type)}`;
}

const validators = new Map<string, ValidateFunction>();
const ajvs = new Map<ApiVersion, Ajv2020>();

function validator(schema: Schema, version: ApiVersion): ValidateFunction {
  const key = `${version} ${JSON.stringify(schema)}`;
  const known = validators.get(key);
  if (known) return known;
  const ajv = ajvs.get(version) ?? createAjv(version);
  ajvs.set(version, ajv);
  const compiled = ajv.compile(pointed(atVersion(schema, version)));
  validators.set(key, compiled);
  return compiled;
}

function createAjv(version: ApiVersion): Ajv2020 {
  // The document has keywords of its own (x-since), and examples.
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({
    $id: 'openapi:',
    components: { schemas: atVersion(DOCUMENT.components.schemas, version) },
  });
  return ajv;
}

/** With its references pointing into the document. */
function pointed(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"openapi:#')) as Schema;
}

function pathOf(url: string): string {
  const path = new URL(url, 'http://localhost').pathname;
  return path.length > 1 ? path.replace(/\/$/, '') : path;
}

interface VersionedSchema {
  properties?: Record<string, { 'x-since'?: ApiVersion }>;
  required?: string[];
  'x-required-since'?: Record<string, ApiVersion>;
}

/** A schema, and those in it, as exact as it is for one version: later properties are gone, all others required. */
function atVersion<T>(schema: T, version: ApiVersion): T {
  if (Array.isArray(schema)) return schema.map((each) => atVersion(each, version)) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, atVersion(value, version)]);
  const copy = Object.fromEntries(entries) as VersionedSchema;
  for (const [name, property] of Object.entries(copy.properties ?? {})) {
    const since = property['x-since'];
    if (since && !atLeast(version, since)) delete copy.properties?.[name];
  }
  const since = Object.entries(copy['x-required-since'] ?? {});
  const required = since.filter(([, introduced]) => atLeast(version, introduced)).map(([name]) => name);
  if (required.length > 0) copy.required = [...(copy.required ?? []), ...required];
  return copy as T;
}
