import { type Context, Hono } from 'hono';
import { type Action, requireAccess } from '../access/acl.queries.ts';
import type { Database } from '../database/kysely.ts';
import { checked } from '../http/check.ts';
import { conflict, notFound } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { versionedJson } from '../http/version.ts';
import { advance, type Change } from './advance.ts';
import { findWorkflow, type WorkflowRow } from './queries.ts';
import { IllegalMove } from './states.ts';
import { WantedState, type WorkflowJson, WorkflowQuery } from './workflow.schemas.ts';

/** What a client may ask of a workflow, by the state it wants. */
const CHANGES: Readonly<Record<WantedState, Change>> = {
  running: { kind: 'resumed' },
  stopped: { kind: 'stopped' },
};

/** `/api/workflows/{number}`: looking at a workflow, resuming and stopping it (compatibility 6). */
export function workflowRoutes({ database }: { database: Database }): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/workflows/:id', async (c) => {
    const workflow = await accessible(database, c, 'read');
    return versionedJson(c, workflowJson(workflow, WorkflowQuery.parse(c.req.query())));
  });

  app.put('/api/workflows/:id', async (c) => {
    const workflow = await accessible(database, c, 'write');
    const state = (await readFields(c.req.raw)).get('state');
    if (state) {
      const change = CHANGES[checked(WantedState, state)];
      await database
        .transaction()
        .execute((trx) => advance(trx, workflow.id, change))
        .catch((error) => {
          if (error instanceof IllegalMove)
            throw conflict(`The workflow cannot go from ${error.from} to ${error.to}.`);
          throw error;
        });
    }
    const changed = await findWorkflow(database, workflow.id);
    return versionedJson(c, workflowJson(changed ?? workflow, WorkflowQuery.parse(c.req.query())));
  });

  return app;
}

async function accessible(database: Database, c: Context, action: Action): Promise<WorkflowRow> {
  const id = c.req.param('id') ?? '';
  const missing = `Cannot find workflow instance with id '${id}'.`;
  const workflow = /^[1-9]\d{0,14}$/.test(id) ? await findWorkflow(database, Number(id)) : undefined;
  if (!workflow) throw notFound(missing);
  await requireAccess(database, 'events', c.var.principal, workflow.event_id, action, missing);
  return workflow;
}

function workflowJson(workflow: WorkflowRow, query: WorkflowQuery): WorkflowJson {
  return {
    identifier: workflow.id,
    title: workflow.title,
    description: '',
    workflow_definition_identifier: workflow.definition,
    event_identifier: workflow.event_id,
    creator: workflow.creator,
    state: workflow.state.toLowerCase(),
    ...(query.withconfiguration && {
      configuration: workflow.configuration as WorkflowJson['configuration'],
    }),
    ...(query.withoperations && {
      operations: workflow.operations.map(({ operation, description, state }) => ({
        operation,
        description,
        state,
      })),
    }),
  };
}
