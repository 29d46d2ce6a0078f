/**
 * Arrows between the parts of the tree; see docs/architecture.md. The platform knows no feature, a feature knows those
 * that are listed before it, and the composition knows them all.
 */
const FEATURES = [
  ...['access', 'metadata', 'changes', 'publications', 'processing', 'capture', 'catalogue', 'ingest'],
  ...['editing', 'notifications', 'statistics', 'maintenance', 'opencast', 'pages'],
];
const part = (...names) => `^src/(${names.join('|')})/`;
const ENTRIES = '^(src/(main|api|edge)\\.ts|workers/(main|start-worker)\\.ts)$';
const TESTS = '\\.test\\.ts$|^test/|^tools/';

/** Beside the code, but for the embedded server's, which does nothing but start processes. */
const UNIT_TESTS = '^(src/(?!platform/database/embedded/)|workers/).*\\.test\\.ts$';
const WITH_SERVICES = '\\.(integration|full|storm)\\.test\\.ts$';

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'platform-imports-no-feature',
      severity: 'error',
      from: { path: part('platform'), pathNot: TESTS },
      to: { path: '^(src/(?!platform/)|workers/)' },
    },
    ...FEATURES.map((feature, i) => ({
      name: `${feature}-imports-only-features-before-it`,
      severity: 'error',
      from: { path: part(feature), pathNot: TESTS },
      to: { path: ['^src/(app|cli)/', '^workers/', ENTRIES, ...(i + 1 < FEATURES.length ? [part(...FEATURES.slice(i + 1))] : [])] },
    })),
    // Foreign protocols and pages can be taken away together with their lines in the routes.
    ...['opencast', 'pages'].map((wing) => ({
      name: `${wing}-is-entered-by-the-routes`,
      severity: 'error',
      from: { pathNot: [`^src/(app/routes\\.ts$|${wing}/)`, TESTS] },
      to: { path: part(wing) },
    })),
    {
      name: 'the-document-knows-no-feature-but-who-may-ask',
      severity: 'error',
      from: { path: part('openapi'), pathNot: TESTS },
      to: { path: part(...FEATURES.filter((feature) => feature !== 'access')) },
    },
    {
      name: 'workers-never-import-http',
      severity: 'error',
      from: { path: '^workers/' },
      to: { path: ['^src/platform/http/', '\\.endpoints?\\.ts$'] },
    },
    ...['database', 'http'].map((name) => ({
      name: `lists-in-${name}-are-entered-by-their-door`,
      severity: 'error',
      from: { pathNot: `^src/platform/${name}/list/` },
      to: { path: `^src/platform/${name}/list/`, pathNot: `^src/platform/${name}/list/index\\.ts$` },
    })),
    {
      name: 'fluent-ffmpeg-stays-in-media',
      severity: 'error',
      from: { pathNot: '^src/platform/media/' },
      to: { path: 'fluent-ffmpeg' },
    },
    {
      name: 'product-imports-no-test',
      severity: 'error',
      from: { path: '^(src|workers)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(test|tools)/' },
    },
    {
      name: 'unit-tests-start-nothing',
      comment: 'A test that needs a database or a process is called *.integration.test.ts, *.full.test.ts or *.storm.test.ts.',
      severity: 'error',
      from: { path: UNIT_TESTS, pathNot: WITH_SERVICES },
      to: { path: ['^(node:)?child_process$', '^src/platform/media/tools/run-tool\\.ts$', '^test/support/(clips|debian-postgres|embedded-user|redis|role-process|run|s3|server)\\.ts$'] },
    },
    {
      name: 'unit-tests-have-no-database',
      severity: 'error',
      from: { path: UNIT_TESTS, pathNot: WITH_SERVICES },
      to: { path: '^test/support/database\\.ts$', reachable: true },
    },
    {
      name: 'only-composition-knows-the-app',
      severity: 'error',
      from: { pathNot: ['^src/(app|cli)/', ENTRIES, TESTS] },
      to: { path: '^src/app/' },
    },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, pathNot: ['\\.d\\.ts$', '^[^/]+$', ENTRIES, '/browser/'] },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
