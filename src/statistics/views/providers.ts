import { z } from 'zod';
import { RESOLUTIONS, RESOURCE_TYPES, type ResourceType } from './time-series.queries.ts';

const TIME_SERIES = 'timeseries';

const Parameter = z
  .object({
    name: z.string(),
    type: z.enum(['string', 'datetime', 'enumeration']),
    optional: z.boolean(),
    values: z.array(z.string()).optional(),
  })
  .meta({ id: 'StatisticsParameter' });

export const StatisticsProvider = z
  .object({
    identifier: z.string(),
    title: z.string(),
    description: z.string(),
    type: z.literal(TIME_SERIES),
    resourceType: z.enum(RESOURCE_TYPES),
    parameters: z.array(Parameter).optional().describe('With `withparameters` only.'),
  })
  .meta({ id: 'StatisticsProvider' });

export type StatisticsProvider = z.infer<typeof StatisticsProvider>;

const provider = (resourceType: ResourceType, title: string, description: string): StatisticsProvider => ({
  identifier: `${resourceType}.views.sum`,
  title,
  description,
  type: TIME_SERIES,
  resourceType,
});

/** All providers. Without `STATISTICS`, none is offered. */
export const PROVIDERS: readonly StatisticsProvider[] = [
  provider('episode', 'Event views', 'How often an event was watched'),
  provider('series', 'Series views', 'How often the events of a series were watched'),
  provider('organization', 'Organization views', 'How often all events were watched'),
];

const parameter = (name: string, type: z.infer<typeof Parameter>['type'], values?: readonly string[]) => ({
  ...{ name, type, optional: name === 'detailLevel' },
  ...(values && { values: [...values] }),
});

/** The parameters of every provider. */
export const PARAMETERS = [
  parameter('resourceId', 'string'),
  parameter('from', 'datetime'),
  parameter('to', 'datetime'),
  parameter('dataResolution', 'enumeration', RESOLUTIONS),
  parameter('detailLevel', 'enumeration', RESOURCE_TYPES),
];
