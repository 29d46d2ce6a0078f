import { INPUTS } from '#capture/agents/names.ts';
import { USUAL } from '#processing/definitions.ts';
import type { Planned } from './schedule-window.ts';

const WORKFLOW = 'org.opencastproject.workflow.definition';
const WORKFLOW_VALUE = 'org.opencastproject.workflow.config.';
/** What an agent records that nobody has chosen inputs for. */
const ALL_INPUTS = 'default';
/** Java's own files may break lines by them, and agents know no escapes. */
const LINE_BREAKS = /[\r\n\u2028\u2029]+/g;

/** What an agent is told about a recording beside its metadata, by names that agents know. */
export function agentProperties({
  title,
  series_id,
  agent,
  inputs,
  workflow,
  properties,
}: Planned): Record<string, string> {
  return {
    'event.title': title,
    ...(series_id !== null && { 'event.series': series_id }),
    'event.location': agent,
    [INPUTS]: inputs.join(',') || ALL_INPUTS,
    // Some agents would ingest with an empty one.
    [WORKFLOW]: workflow || USUAL,
    ...Object.fromEntries(
      Object.entries(properties as Record<string, string>).map(([name, value]) => [WORKFLOW_VALUE + name, value]),
    ),
  };
}

/**
 * The same as a properties file: a line for each, without anything that could be taken for another line. Some agents drop
 * the first two lines, which are comments where Java has written them.
 */
export function propertiesFile(properties: Readonly<Record<string, string>>): string {
  const line = (text: string) => text.replace(LINE_BREAKS, ' ');
  const lines = Object.entries(properties).map(([name, value]) => `${line(name)}=${line(value)}`);
  return ['# Capture agent specific data', '# Inlet', ...lines, ''].join('\n');
}
