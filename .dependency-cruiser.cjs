/** Arrows between the rooms; see docs/architecture.md. */
const PLATFORM = ['http', 'outbound', 'database', 'storage', 'queue', 'media'];
// Series come after events: who overrides their access control lists edits events.
const FEATURES = [
  ...['access', 'idempotency', 'metadata', 'changes', 'workflows', 'publications', 'recordings', 'events', 'series', 'ingest'],
  ...['stream', 'webhooks', 'statistics', 'upkeep', 'operator', 'about'],
];
const room = (...names) => `^src/(${names.join('|')})/`;
const COMPOSITION = '^(src/(context|app|endpoints(-recorders)?|main|api|api-server|metrics-server|edge(-app)?)\\.ts|workers/(main|start)\\.ts|src/cli/|test/|tools/)';

/** Beside the code, but for the embedded server's, which does nothing but start processes. */
const UNIT_TESTS = '^(src/(?!database/embedded/)|workers/).*\\.test\\.ts$';
const WITH_SERVICES = '\\.(integration|full|storm)\\.test\\.ts$';

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'platform-imports-no-feature',
      severity: 'error',
      from: { path: room(...PLATFORM) },
      to: { path: [room(...FEATURES), '^workers/', '^src/(context|app|endpoints(-recorders)?|main|api|edge(-app)?)\\.ts'] },
    },
    ...FEATURES.slice(0, -1).map((feature, i) => ({
      name: `${feature}-imports-only-features-above-it`,
      severity: 'error',
      from: { path: room(feature) },
      to: { path: room(...FEATURES.slice(i + 1)) },
    })),
    {
      name: 'features-import-no-composition',
      severity: 'error',
      from: { path: room(...FEATURES) },
      to: { path: ['^workers/', '^src/(context|app|endpoints(-recorders)?|main|api|edge(-app)?)\\.ts', '^src/cli/'] },
    },
    {
      name: 'only-the-app-imports-the-document-of-all-features',
      severity: 'error',
      from: { pathNot: ['^(src/openapi/|src/(app|endpoints(-recorders)?)\\.ts|src/cli/|test/|tools/)', '\\.test\\.ts$'] },
      to: { path: room('openapi') },
    },
    {
      name: 'the-document-knows-no-feature-but-who-may-ask',
      severity: 'error',
      from: { path: room('openapi'), pathNot: '\\.test\\.ts$' },
      to: { path: room(...FEATURES.filter((feature) => feature !== 'access')) },
    },
    {
      name: 'workers-never-import-http',
      severity: 'error',
      from: { path: '^workers/' },
      to: { path: ['^src/http/', '\\.endpoints?\\.ts$'] },
    },
    ...['database', 'http'].map((platform) => ({
      name: `lists-in-${platform}-are-entered-by-their-door`,
      severity: 'error',
      from: { pathNot: `^src/${platform}/list/` },
      to: { path: `^src/${platform}/list/`, pathNot: `^src/${platform}/list/index\\.ts$` },
    })),
    {
      name: 'fluent-ffmpeg-stays-in-media',
      severity: 'error',
      from: { pathNot: room('media') },
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
      to: { path: ['^(node:)?child_process$', '^src/media/process\\.ts$', '^test/support/(clips|debian-postgres|embedded-user|redis|role-process|run|s3|server)\\.ts$'] },
    },
    {
      name: 'unit-tests-have-no-database',
      severity: 'error',
      from: { path: UNIT_TESTS, pathNot: WITH_SERVICES },
      to: { path: '^test/support/database\\.ts$', reachable: true },
    },
    {
      name: 'only-composition-knows-the-context',
      severity: 'error',
      from: { pathNot: `${COMPOSITION}|\\.test\\.ts$` },
      to: { path: '^src/context\\.ts$' },
    },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, pathNot: ['\\.d\\.ts$', '^[^/]+$', '^src/(main|api|edge)\\.ts$'] },
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
