import { z } from 'zod';
import { PageQuery } from '../../http/list/index.ts';
import { TextByName } from '../../http/schemas.ts';
import { Agent, AgentList, AgentReport } from '../../recordings/agents/agent.schemas.ts';
import type { Endpoint } from '../endpoint.ts';
import { AGENT, AGENT_ID } from '../examples.ts';
import { LIST_HEADERS } from '../list-parameters.ts';

const CONFIGURATION = {
  'capture.device.names': 'camera,screen',
  'capture.device.timezone': 'Europe/Berlin',
};
const CONFIGURATION_XML = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">
<properties>
<comment>Configuration of ${AGENT_ID}</comment>
<entry key="capture.device.names">camera,screen</entry>
<entry key="capture.device.timezone">Europe/Berlin</entry>
</properties>
`;
const NO_NAME =
  'The name of the capture agent is ""; allowed are 1 to 255 characters, not all blank, none of them a control character, and neither . nor ..';
/** What every signed in request may meet beside what it is refused for. */
const ANYWHERE = {
  401: ['User name or password is wrong.', 'The Authorization header is not one of HTTP Basic.'],
  403: 'This needs the role ROLE_CAPTURE_AGENT.',
  429: 'Too many wrong passwords; try again later.',
  500: 'Internal server error; the log has the details under request id 6f1f1d0e.',
  503: 'The database does not answer.',
};

/** Capture agents: what is known of them, and how they report themselves. */
export const AGENTS: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/agents',
    tag: 'Capture agents',
    summary: 'List capture agents',
    description: 'By identifier. All of them, unless `limit` is given.',
    query: PageQuery,
    answers: {
      200: {
        description: 'A page of capture agents.',
        body: AgentList,
        example: [AGENT],
        headers: LIST_HEADERS,
      },
    },
    refusals: {
      400: `The parameter 'limit' is "-1"; allowed is a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`,
    },
  },
  {
    method: 'get',
    path: '/api/agents/{agent_id}',
    tag: 'Capture agents',
    summary: 'Read a capture agent',
    description: 'Known is an agent that has reported, or for which something has been scheduled.',
    answers: { 200: { description: 'The capture agent.', body: Agent, example: AGENT } },
    refusals: { 404: `Cannot find an agent with id '${AGENT_ID}'.` },
  },
  {
    method: 'post',
    path: '/capture-admin/agents/{agent_id}',
    tag: 'Capture agents',
    summary: 'Report the state of a capture agent',
    description:
      'For administrators and capture agents (`ROLE_CAPTURE_AGENT`). An agent makes itself known by it, and has to repeat it: after two minutes of silence it counts as `offline`.',
    form: {
      encoding: 'any',
      schema: AgentReport,
      example: { state: 'idle', address: AGENT.url },
    },
    answers: {
      200: {
        description: 'It is written down.',
        mediaType: 'text/plain; charset=utf-8',
        body: z.string(),
        example: `${AGENT_ID} set to idle`,
      },
    },
    refusals: {
      ...ANYWHERE,
      400: [
        `The form parameter 'state' is "flying"; allowed are idle, capturing, uploading, unknown, shutting_down, error, offline.`,
        NO_NAME,
      ],
    },
  },
  {
    method: 'post',
    path: '/capture-admin/agents/{agent_id}/configuration',
    tag: 'Capture agents',
    summary: 'Replace the configuration of a capture agent',
    description:
      'For administrators and capture agents (`ROLE_CAPTURE_AGENT`). A JSON object or properties XML, as a form field or as the whole body of whatever type. `capture.device.names` are the inputs of the agent, with commas between them; `capture.device.timezone` is the IANA name of its time zone, which is UTC unless it says so.',
    form: {
      encoding: 'any',
      schema: z.object({ configuration: z.string().describe('A JSON object, or properties XML.') }),
      example: { configuration: JSON.stringify(CONFIGURATION) },
      bodies: {
        'application/json': {
          schema: TextByName.describe('Numbers and booleans are kept as text.'),
          example: CONFIGURATION,
        },
        'text/xml': { schema: z.string(), example: CONFIGURATION_XML },
      },
    },
    answers: {
      200: {
        description: 'The configuration as it is kept.',
        mediaType: 'text/xml; charset=utf-8',
        body: z.string(),
        example: CONFIGURATION_XML,
      },
    },
    refusals: {
      ...ANYWHERE,
      400: [
        'The configuration must be a JSON object or properties XML.',
        'The property capture.device.timezone is "Utopia"; allowed is the IANA name of a time zone, such as Europe/Berlin.',
        NO_NAME,
      ],
      413: 'The configuration is longer than 65536 bytes.',
    },
  },
];
