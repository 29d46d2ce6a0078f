import { loadCatalogs } from '#metadata/catalogs.ts';
import { loadDefinitions } from '#processing/definitions.ts';
import type { Check } from './check.ts';

/** Whether the files of the site can be used: nothing starts with one that cannot. */
export function definitionsCheck(workflowsDir: string | undefined, metadataDir: string | undefined): Check {
  return {
    name: 'definitions',
    todo: 'WORKFLOWS_DIR and METADATA_DIR say where the files of the site are; mend that one.',
    run: async () => {
      const workflows = (await loadDefinitions(workflowsDir)).all().length;
      const { event, series } = await loadCatalogs(metadataDir);
      const catalogs = event.extended.length + series.extended.length;
      return { state: 'ok', found: `${workflows} workflows, ${catalogs} metadata catalogs of the site` };
    },
  };
}
