import { loadCatalogs } from '#metadata/catalogs.ts';
import { loadDefinitions } from '#processing/definitions.ts';
import type { Check } from './check.ts';

/** Checks the workflow definitions and metadata catalogs of the site. Inlet does not start with an invalid one. */
export function definitionsCheck(workflowsDir: string | undefined, metadataDir: string | undefined): Check {
  return {
    name: 'definitions',
    todo: 'Correct the file below WORKFLOWS_DIR or METADATA_DIR.',
    run: async () => {
      const workflows = (await loadDefinitions(workflowsDir)).all().length;
      const { event, series } = await loadCatalogs(metadataDir);
      const catalogs = event.extended.length + series.extended.length;
      return { state: 'ok', found: `${workflows} workflows, ${catalogs} metadata catalogs of the site` };
    },
  };
}
