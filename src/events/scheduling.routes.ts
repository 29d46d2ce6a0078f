import { type Context, Hono } from 'hono';
import { requireAccess } from '../access/acl.queries.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/kysely.ts';
import { offers } from '../http/api-changes.ts';
import { conditionalJson } from '../http/conditional-json.ts';
import { badRequest, notFound } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { TextFlag } from '../http/query.schemas.ts';
import { answerConflicts } from '../recordings/answer-conflicts.ts';
import { explainingConflicts } from '../recordings/conflicts.ts';
import { scheduleJson } from '../recordings/schedules/json.ts';
import { parseSchedulingChange } from '../recordings/schedules/parse.ts';
import { scheduleOf } from '../recordings/schedules/schedules.queries.ts';
import type { SchedulingEdit } from './update/scheduling.ts';
import { updateEvent } from './update/update-event.ts';

export interface SchedulingDependencies {
  config: Pick<Config, 'scheduling'>;
  database: Database;
}

/** `/api/events/{id}/scheduling`: when and by which capture agent an event is to be recorded (compatibility 3.12). */
export function eventSchedulingRoutes({ config, database }: SchedulingDependencies): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events/:id/scheduling', async (c) => {
    const id = c.req.param('id');
    await requireAccess(database, 'events', c.var.principal, id, 'read', missing(id));
    const schedule = await scheduleOf(database, id);
    return schedule ? conditionalJson(c, scheduleJson(schedule)) : c.body(null, 204);
  });

  app.put('/api/events/:id/scheduling', (c) =>
    reschedule(c, c.req.param('id')).catch((error) => answerConflicts(c, error)),
  );

  async function reschedule(c: Context, id: string): Promise<Response> {
    const { principal, version } = c.var;
    await requireAccess(database, 'events', principal, id, 'write', missing(id));
    const fields = await readFields(c.req.raw);
    const text = fields.get('scheduling');
    if (text === undefined) throw badRequest("Missing form parameter 'scheduling'");
    const change = parseSchedulingChange(text, { unreadable: 'Unparsable scheduling information' });
    const asked =
      offers(version, 'eventParameters', 'allowConflict') && TextFlag.parse(fields.get('allowConflict'));
    const scheduling: SchedulingEdit = {
      change,
      gapMs: config.scheduling.minGapMs,
      allowConflict: asked && principal.isAdmin(),
    };
    const refusals = { missing: () => notFound(missing(id)), unscheduled: () => notFound() };
    await explainingConflicts(database, principal, (trx) =>
      updateEvent(trx, id, { scheduling }, { principal, refusals }),
    );
    return c.body(null, 204);
  }

  return app;
}

function missing(id: string): string {
  return `Unable to find event with id '${id}'`;
}
