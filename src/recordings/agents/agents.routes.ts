import { Hono } from 'hono';
import type { Database } from '../../database/kysely.ts';
import { notFound } from '../../http/errors.ts';
import { answerList } from '../../http/list/index.ts';
import { versionedJson } from '../../http/version.ts';
import { findAgent } from './agents.queries.ts';
import { AGENT_LIST, agentJson } from './list.ts';

export interface AgentDependencies {
  /** Base of the URLs handed out, without a slash at its end. */
  publicUrl: string;
  database: Database;
}

/** `/api/agents`: the capture agents that are known (compatibility 6). Unless a limit is given, a page has all. */
export function agentRoutes({ publicUrl, database }: AgentDependencies): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/agents', (c) =>
    answerList(c, AGENT_LIST, {
      database,
      url: `${publicUrl}/api/agents`,
      access: undefined,
      json: async (agents) => agents.map(agentJson),
    }),
  );

  app.get('/api/agents/:id', async (c) => {
    const id = c.req.param('id');
    const agent = await findAgent(database, id);
    if (!agent) throw notFound(`Cannot find an agent with id '${id}'.`);
    return versionedJson(c, agentJson(agent));
  });

  return app;
}
