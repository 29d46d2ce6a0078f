import { type Context, Hono } from 'hono';
import type { Database } from '../../database/kysely.ts';
import { checked } from '../../http/check.ts';
import { badRequest, SENTENCE } from '../../http/errors.ts';
import { readFields } from '../../http/form.ts';
import { AgentName, AgentReport } from './agent.schemas.ts';
import { recordConfiguration, recordReport } from './agents.queries.ts';
import { parseConfiguration } from './configuration.ts';
import { readConfiguration } from './configuration-body.ts';
import { propertiesXml } from './properties-xml.ts';

/** `/capture-admin/agents/{name}`: where capture agents report themselves, as they know it from elsewhere. */
export function agentReportRoutes({ database }: { database: Database }): Hono {
  const app = new Hono({ strict: false });

  app.post('/capture-admin/agents/:name', async (c) => {
    const name = agentName(c, c.req.param('name'));
    const report = checked(AgentReport, Object.fromEntries(await readFields(c.req.raw)));
    await recordReport(database, name, report);
    return c.body(`${name} set to ${report.state}`, 200, { 'Content-Type': SENTENCE });
  });

  app.post('/capture-admin/agents/:name/configuration', async (c) => {
    const name = agentName(c, c.req.param('name'));
    const configuration = parseConfiguration(await readConfiguration(c.req.raw));
    await recordConfiguration(database, name, configuration);
    const xml = propertiesXml(configuration.properties, `Configuration of ${name}`);
    return c.body(xml, 200, { 'Content-Type': 'text/xml; charset=utf-8' });
  });

  return app;
}

/** @throws {HttpError} 400 for a name that no agent can have */
function agentName(c: Context, name: string): string {
  // What cannot be decoded would be taken as it stands.
  if (!isDecodable(c.req.url)) {
    throw badRequest('The name of the capture agent is not percent-encoded UTF-8.');
  }
  return checked(AgentName, name);
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(new URL(url).pathname);
    return true;
  } catch {
    return false;
  }
}
