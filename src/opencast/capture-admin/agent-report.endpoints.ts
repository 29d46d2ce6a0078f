import type { Context } from 'hono';
import { z } from 'zod';
import { OTHER_AGENT, requireOwnAgent } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { AgentName, AgentReport, IMPOSSIBLE_NAME, UNKNOWN_STATE } from '#capture/agents/agent.schemas.ts';
import {
  CONFIGURATION_TOO_LONG,
  INVALID_CONFIGURATION,
  parseConfiguration,
  propertiesXml,
} from '#capture/agents/agent-configuration.ts';
import { AGENT, AGENT_ID, CONFIGURATION, CONFIGURATION_XML } from '#capture/agents/agent-examples.ts';
import { MAX_NAME } from '#capture/agents/agent-names.ts';
import { recordConfiguration, recordReport } from '#capture/agents/agents.queries.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { parseInput, pathParameter, TextByName } from '#platform/http/endpoint/endpoint-schemas.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import { fieldsOf, isUrlencoded, readBody } from '#platform/http/form/form.ts';
import { isMultipart } from '#platform/http/form/multipart.ts';
import { remoteAddress } from '#platform/http/server/client-address.ts';
import { TEXT_ANSWER, textResponse, XML_ANSWER, xmlResponse } from '../text-answers.ts';
import type { AgentServices } from './json-and-xml.ts';

/**
 * Reads the configuration from a request: the whole body, whatever its type (curl labels everything a form), or the
 * form field `configuration`.
 * @throws {HttpError} 400 without a configuration, 408 when the client stops sending, 413 if it is too long
 * @throws {ClientDisconnected}
 */
async function readConfiguration(request: Request): Promise<string> {
  const body = await readBody(request);
  const type = request.headers.get('Content-Type') ?? '';
  if (!isMultipart(type)) {
    const text = textOf(body);
    // Form fields are encoded and cannot begin like this.
    if (/^\s*[{<]/.test(text)) return text;
    if (text !== '' && !isUrlencoded(type)) throw INVALID_CONFIGURATION();
  }
  const configuration = body.length > 0 ? (await fieldsOf(body, type)).get('configuration') : undefined;
  if (configuration === undefined) throw badRequest("Missing form parameter 'configuration'");
  return configuration;
}

/** Decodes a body without its byte order mark. */
function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw badRequest('The configuration is not encoded in UTF-8.');
  }
}

const params = { agent_id: pathParameter('Name of the capture agent.', AGENT_ID) };
const access = [ROLE_CAPTURE_AGENT];

/** Reports of capture agents about themselves. */
export const REPORT_ENDPOINTS = [
  defineEndpoint({
    method: 'post',
    path: '/capture-admin/agents/{agent_id}',
    access,
    summary: 'Report the state of a capture agent',
    description:
      'For administrators and capture agents (`ROLE_CAPTURE_AGENT`). Adds the agent. It must repeat the report: after two minutes without one it is `offline`.',
    params,
    form: { schema: AgentReport, example: { state: 'idle', address: AGENT.url } },
    answers: {
      200: { description: 'The report is saved.', ...TEXT_ANSWER, example: `${AGENT_ID} set to idle` },
    },
    refusals: [UNKNOWN_STATE, IMPOSSIBLE_NAME, OTHER_AGENT],
    handle: async ({ c, params, form }, { database }: AgentServices) => {
      const name = agentName(c, params.agent_id);
      const report = await form();
      await recordReport(database, name, report, remoteAddress(c));
      return textResponse(c, `${name} set to ${report.state}`);
    },
  }),
  defineEndpoint({
    method: 'post',
    path: '/capture-admin/agents/{agent_id}/configuration',
    access,
    summary: 'Replace the configuration of a capture agent',
    description:
      'For administrators and capture agents (`ROLE_CAPTURE_AGENT`). A JSON object or properties XML, as a form field or as the whole body of any type. `capture.device.names` lists the inputs of the agent, separated by commas. `capture.device.timezone` is the IANA name of its time zone; an unknown one counts as UTC.',
    params,
    form: {
      schema: z.object({ configuration: z.string().describe('A JSON object, or properties XML.') }),
      example: { configuration: JSON.stringify(CONFIGURATION) },
      bodies: {
        'application/json': {
          schema: TextByName.describe('Numbers and booleans are stored as text.'),
          example: CONFIGURATION,
        },
        'text/xml': { schema: z.string(), example: CONFIGURATION_XML },
      },
    },
    answers: { 200: { description: 'The stored configuration.', ...XML_ANSWER, example: CONFIGURATION_XML } },
    refusals: [INVALID_CONFIGURATION, IMPOSSIBLE_NAME, CONFIGURATION_TOO_LONG, OTHER_AGENT],
    handle: async ({ c, params }, { database }: AgentServices) => {
      const name = agentName(c, params.agent_id);
      const configuration = parseConfiguration(await readConfiguration(c.req.raw));
      const { unknownZone, timeZone } = configuration;
      const isNew = await recordConfiguration(database, name, configuration);
      if (isNew && unknownZone !== undefined) {
        c.var.log.warn(
          { agent: name, unknownZone: unknownZone.slice(0, MAX_NAME), timeZone },
          'a capture agent reports an unknown time zone; its recurring recordings use another one',
        );
      }
      return xmlResponse(c, propertiesXml(configuration.properties, `Configuration of ${name}`));
    },
  }),
];

/**
 * Returns a valid name of an agent. @throws {HttpError} 400 if it is invalid, 403 if the account is for another agent
 */
function agentName(c: Context, name: string): string {
  // The router keeps paths that it cannot decode.
  if (!isDecodable(c.req.url)) {
    throw badRequest('The name of the capture agent is not percent-encoded UTF-8.');
  }
  const possible = parseInput(AgentName, name);
  requireOwnAgent(c.var.principal, possible);
  return possible;
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(new URL(url).pathname);
    return true;
  } catch {
    return false;
  }
}
