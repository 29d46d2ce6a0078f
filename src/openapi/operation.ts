import { z } from 'zod';
import type {
  ZodOpenApiMediaTypeObject,
  ZodOpenApiOperationObject,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import { API_VERSIONS, atLeast, mediaType } from '#platform/http/answer/version.ts';
import type { Answer, Description, Form } from '#platform/http/endpoint/endpoint.ts';
import { refusalsOf } from './refusals.ts';

const NEWEST_FIRST = [...API_VERSIONS].reverse();

/** An endpoint as an operation of the document. */
export function operationOf(endpoint: Description, tag: string): ZodOpenApiOperationObject {
  const { method, path, params, query, repeatable, form, access, since, summary, description } = endpoint;
  const refusals = refusalsOf(endpoint);
  const answers = Object.entries(endpoint.answers ?? {}).map(([status, answer]) => [
    status,
    withContent(responseOf(answer, endpoint), refusals[status]),
  ]);
  return {
    operationId: endpoint.operationId ?? operationId(method, path),
    tags: [tag],
    summary,
    description: since ? `${description}\n\nVersion ${since} and higher.` : description,
    ...(since && { 'x-since': since }),
    ...(access === 'public' && { security: [] }),
    requestParams: {
      ...(params && { path: z.object(params) }),
      ...(query && { query }),
      ...(repeatable && { header: repeatable.headers }),
    },
    ...(form && { requestBody: requestBody(form) }),
    responses: { ...refusals, ...Object.fromEntries(answers) },
  };
}

function operationId(method: string, path: string): string {
  const words = path
    .replace(/^\/api(?=\/)/, '')
    .replace(/\.json$/, '')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '');
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return method + (name || 'Home');
}

function requestBody(form: Form): ZodOpenApiRequestBodyObject {
  const { example, bodies } = form;
  const content = { schema: withExamples(form.schema, example), example };
  return {
    required: true,
    content: {
      ...(!form.streams && { 'application/x-www-form-urlencoded': content }),
      'multipart/form-data': content,
      ...bodies,
    },
  };
}

/** A form whose fields have their part of the example, too. */
function withExamples({ shape }: Form['schema'], example: Form['example']) {
  return z.object(
    Object.fromEntries(
      Object.entries(shape as Record<string, z.ZodType>).map(([name, field]) => [
        name,
        example[name] === undefined ? field : field.meta({ ...field.meta(), example: example[name] }),
      ]),
    ),
  );
}

function responseOf(answer: Answer, { since }: Description): ZodOpenApiResponseObject {
  const { description, body, binary, headers } = answer;
  return {
    description,
    ...(headers && { headers }),
    ...(binary && { content: { '*/*': { schema: {} } } }),
    ...(body && { content: contentOf(answer, body, since) }),
  };
}

/** A response that may be a sentence as well. */
function withContent(
  response: ZodOpenApiResponseObject,
  refusal: ZodOpenApiResponseObject | undefined,
): ZodOpenApiResponseObject {
  if (!refusal) return response;
  return { ...response, content: { ...response.content, ...refusal.content } };
}

/** One media type for each version that has the endpoint; the example is of the newest. */
function contentOf(
  { plain, page, mediaType: text, example }: Answer,
  schema: NonNullable<Answer['body']>,
  since: Description['since'] = API_VERSIONS[0],
) {
  const media: ZodOpenApiMediaTypeObject = { schema };
  if (text) return { [text]: { ...media, example } };
  if (plain) {
    return {
      'application/json': { ...media, example },
      ...(page && { 'text/html; charset=UTF-8': { schema: { type: 'string' as const } } }),
    };
  }
  const versions = NEWEST_FIRST.filter((version) => atLeast(version, since));
  return Object.fromEntries(
    versions.map((version, i) => [mediaType(version), i === 0 ? { ...media, example } : media]),
  );
}
