import { Hono } from 'hono';
import type { Database } from '../../database/kysely.ts';
import { findPart } from '../../database/list/find.ts';
import { notFound } from '../../http/errors.ts';
import { answerList } from '../../http/list/answer-list.ts';
import { parsePage } from '../../http/list/page-request.ts';
import { versionedJson } from '../../http/version.ts';
import { formatInstant } from '../../metadata/time.ts';
import type { AgentJson } from './agent.schemas.ts';
import { AGENT_ORDER, type AgentRow, agentList, findAgent } from './agents.queries.ts';

export interface AgentDependencies {
  /** Base of the URLs handed out, without a slash at its end. */
  publicUrl: string;
  database: Database;
}

/** `/api/agents`: the capture agents that are known (compatibility 6). Unless a limit is given, a page has all. */
export function agentRoutes({ publicUrl, database }: AgentDependencies): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/agents', (c) => {
    const page = parsePage(c.req.query(), AGENT_ORDER, undefined);
    return answerList(c, `${publicUrl}/api/agents`, page, {
      order: AGENT_ORDER,
      find: (slice) => findPart(database, agentList(database), slice),
      json: async (agents) => agents.map(agentJson),
    });
  });

  app.get('/api/agents/:id', async (c) => {
    const id = c.req.param('id');
    const agent = await findAgent(database, id);
    if (!agent) throw notFound(`Cannot find an agent with id '${id}'.`);
    return versionedJson(c, agentJson(agent));
  });

  return app;
}

function agentJson({ id, status, inputs, updated, url }: AgentRow): AgentJson {
  return { agent_id: id, status, inputs, update: formatInstant(updated), url };
}
