import type { Context } from 'hono';
import type { z } from 'zod';
import { xmlText } from '#metadata/xml-text.ts';
import type { Database } from '#platform/database/kysely.ts';
import { type Description, defineEndpoint, type Endpoint } from '#platform/http/endpoint/endpoint.ts';
import { XML_ANSWER, xmlResponse } from '../text-answers.ts';

/** The services of the endpoints for agents and their recordings. */
export interface AgentServices {
  database: Database;
}

/** Returns an XML element. @param content XML, unless `kind` is `text` */
export function element(name: string, content: string, kind: 'xml' | 'text' = 'xml'): string {
  return `<${name}>${kind === 'text' ? xmlText(content) : content}</${name}>`;
}

/** Returns an element for each field of a record, with its value as text. */
export function elementsOf(fields: Readonly<Record<string, string | number>>): string {
  return Object.entries(fields)
    .map(([name, value]) => element(name, String(value), 'text'))
    .join('');
}

/** Returns a response with an XML document in the namespace of capture agents. */
export function agentXml(c: Context, root: string): Response {
  const document = root.replace(/^<([\w-]+)>/, '<$1 xmlns="http://capture.admin.opencastproject.org">');
  return xmlResponse(c, `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${document}`);
}

type Shared = Pick<Description, 'access' | 'params' | 'refusals'> & { path: string; summary: string };

/** The two forms of one resource, and how it is read. */
interface Resource<Value> extends Shared {
  description: string;
  answer: string;
  json: { of: (value: Value) => object; body: z.ZodType; example: unknown };
  /** `operationId` is set where the derived one is taken. */
  xml: { answer: (c: Context, value: Value, id: string) => Response; example: string; operationId?: string };
  load: (database: Database, id: string) => Promise<Value>;
}

/** Declares the endpoints `<path>.json` and `<path>.xml` of a resource, which its first path parameter identifies. */
export function asJsonAndXml<Value>({
  path,
  summary,
  description,
  answer,
  json,
  xml,
  load,
  ...shared
}: Resource<Value>): [Endpoint<AgentServices>, Endpoint<AgentServices>] {
  const described = { ...shared, description, method: 'get' } as const;
  const idOf = (params: object) => String(Object.values(params)[0] ?? '');
  return [
    defineEndpoint({
      ...described,
      path: `${path}.json`,
      summary,
      answers: { 200: { description: answer, plain: true, body: json.body, example: json.example } },
      handle: async ({ c, params }, { database }: AgentServices) => c.json(json.of(await load(database, idOf(params)))),
    }),
    defineEndpoint({
      ...described,
      ...(xml.operationId && { operationId: xml.operationId }),
      path: `${path}.xml`,
      summary: `${summary}, as XML`,
      answers: { 200: { description: answer, ...XML_ANSWER, example: xml.example } },
      handle: async ({ c, params }, { database }: AgentServices) =>
        xml.answer(c, await load(database, idOf(params)), idOf(params)),
    }),
  ];
}
