import { z } from 'zod';
import { requireAccess } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { parseSchedulingChange } from '#capture/schedules/parse-scheduling.ts';
import { CONFLICT_ANSWER, conflictResponse, withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import { SCHEDULING, Scheduling, SchedulingUpdate, scheduleJson } from '#capture/schedules/scheduling.schemas.ts';
import { scheduleOf } from '#capture/schedules/timetable.queries.ts';
import { NO_END, UNPARSABLE_DATE, UNPARSABLE_SCHEDULING_UPDATE } from '#capture/states/scheduling-errors.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { conditionalJson } from '#platform/http/answer/etag.ts';
import { atLeast } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { jsonText, TAGGED_HEADERS, TextFlag } from '#platform/http/endpoint/endpoint-schemas.ts';
import { EVENT_NOT_FOUND, EVENT_PART_MISSING, RECORDING_BEGUN } from '../event-refusals.ts';
import { EVENT_CHANGES } from '../event-versions.ts';
import type { SchedulingEdit } from '../update/event-edits.ts';
import { updateEvent } from '../update/update-event.ts';
import { eventParams } from './events.endpoints.ts';

interface Services {
  config: Pick<Config, 'scheduling'>;
  database: Database;
}

export const readScheduling = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/scheduling',
  since: '1.1.0',
  access: apiRole('EVENTS_SCHEDULING_VIEW'),
  summary: 'Read the scheduling of an event',
  description: 'The answer may be sent back with PUT.',
  params: eventParams,
  answers: {
    200: {
      description: 'The time of the recording and its capture agent.',
      body: Scheduling,
      example: SCHEDULING,
      headers: TAGGED_HEADERS,
    },
    204: { description: 'The event is not scheduled.' },
    304: { description: 'The scheduling still has this `ETag`.' },
  },
  refusals: [EVENT_NOT_FOUND],
  handle: async ({ c, params }, { database }: Services) => {
    const id = params.event_id;
    await requireAccess(database, 'events', c.var.principal, id, 'read', EVENT_NOT_FOUND);
    const schedule = await scheduleOf(database, id);
    return schedule ? conditionalJson(c, scheduleJson(schedule)) : c.body(null, 204);
  },
});

export const putScheduling = defineEndpoint({
  method: 'put',
  path: '/api/events/{event_id}/scheduling',
  since: '1.1.0',
  access: apiRole('EVENTS_SCHEDULING_EDIT'),
  summary: 'Change the scheduling of an event',
  description:
    'Missing fields keep their values, except that `end` or `duration` is required. Refused once the recording has begun.',
  params: eventParams,
  form: {
    schema: z.object({
      scheduling: jsonText(SchedulingUpdate, 'The new scheduling information.'),
      allowConflict: TextFlag.meta({
        description: `\`true\` lets administrators schedule a recording that conflicts with others. Version ${EVENT_CHANGES.allowConflict} and higher.`,
      }),
    }),
    example: { scheduling: JSON.stringify(SCHEDULING), allowConflict: 'false' },
  },
  answers: { 204: { description: 'The scheduling was changed.' }, 409: CONFLICT_ANSWER },
  refusals: [
    UNPARSABLE_SCHEDULING_UPDATE,
    UNPARSABLE_DATE,
    NO_END,
    RECORDING_BEGUN,
    EVENT_NOT_FOUND,
    EVENT_PART_MISSING,
  ],
  handle: async ({ c, params, form }, { config, database }: Services) => {
    const { principal, version } = c.var;
    const id = params.event_id;
    try {
      await requireAccess(database, 'events', principal, id, 'write', EVENT_NOT_FOUND);
      const { scheduling: text, allowConflict } = await form();
      const scheduling: SchedulingEdit = {
        change: parseSchedulingChange(text, UNPARSABLE_SCHEDULING_UPDATE),
        gapMs: config.scheduling.minGapMs,
        allowConflict: allowConflict && principal.isAdmin() && atLeast(version, EVENT_CHANGES.allowConflict),
      };
      const refusals = { missing: EVENT_NOT_FOUND, unscheduled: () => EVENT_PART_MISSING() };
      await withScheduleConflicts(database, principal, (trx) =>
        updateEvent(trx, id, { scheduling }, { principal, refusals }),
      );
      return c.body(null, 204);
    } catch (error) {
      return conflictResponse(c, error);
    }
  },
});
