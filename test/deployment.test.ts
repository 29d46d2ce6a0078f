import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '#platform/config/config.ts';
import { VARIABLES } from '#platform/config/environment.ts';

const placeOf = (path: string) => fileURLToPath(new URL(`../docker/${path}`, import.meta.url));
const read = (path: string) => readFileSync(placeOf(path), 'utf8');
/** Variables that Inlet does not read; those of AWS are for its SDK. */
const unknown = (environment: object) =>
  Object.keys(environment).filter((name) => !VARIABLES.includes(name) && !name.startsWith('AWS_'));

interface Service {
  user?: string;
  command?: string[];
  environment?: Record<string, string>;
  networks?: string[];
  depends_on?: Record<string, { condition: string; required?: boolean }>;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  stop_grace_period?: string;
}

const compose = parse(read('compose.yaml'), { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { enable_ipv6?: boolean; ipam?: { config: { subnet: string }[] } }>;
  volumes: Record<string, unknown>;
};
/** What compose reads of `.env`, by name, and whether it goes without. */
const asked = new Map(
  [...read('compose.yaml').matchAll(/\$\{(\w+)(:[-?])?[^}]*\}/g)].map(([, name = '', default_]) => [name, default_]),
);
const example = read('.env.example');

test('every variable that compose reads is in .env.example, and the other way round', () => {
  const there = [...example.matchAll(/^#?([A-Z_0-9]+)=/gm)].map(([, name]) => name);
  expect(there.sort()).toEqual([...asked.keys()].sort());
});

test('no secret has a value in what is handed out', () => {
  for (const [line, name] of example.matchAll(/^(\w*(?:PASSWORD|SECRET)\w*)=.*$/gm)) expect(line).toBe(`${name}=`);
});

test.each(['api', 'worker', 'migrate'])('compose configures %s by variables that there are', (name) => {
  const { environment = {}, read_only, cap_drop } = compose.services[name] as Service;
  expect(unknown(environment)).toEqual([]);
  expect({ read_only, cap_drop }).toEqual({ read_only: true, cap_drop: ['ALL'] });
  const fill = (value: string) => value.replaceAll(/\$\{\w+(?::-([^}]*))?[^}]*\}/g, (_, given) => given ?? 'x');
  const filled = Object.entries(environment).map(([key, value]) => [key, fill(value)]);
  const config = loadConfig(Object.fromEntries(filled));
  const { enable_ipv6, ipam } = compose.networks.edge ?? {};
  expect(enable_ipv6).toBe(true);
  expect(config.trustedProxies.map(({ address, prefix }) => `${address}/${prefix}`)).toEqual(
    ipam?.config.map(({ subnet }) => subnet),
  );
  // Killed before it has ended it would lose what it could have handed back.
  expect(Number.parseInt(compose.services.api?.stop_grace_period ?? '', 10) * 1000).toBeGreaterThan(config.shutdownMs);
});

test('in compose the proxy alone reaches the API from outside, and every network and volume is declared', () => {
  for (const { networks = [] } of Object.values(compose.services))
    expect(networks.filter((name) => !(name in compose.networks))).toEqual([]);
  const edge = Object.entries(compose.services).filter(([, { networks }]) => networks?.includes('edge'));
  expect(edge.map(([name]) => name)).toEqual(['proxy', 'api']);
});

test('Redis has no capabilities that it would need as root to start a second time, and so is not', () => {
  const { user, cap_drop, cap_add } = compose.services.redis as Service;
  expect({ user, cap_drop, cap_add }).toEqual({ user: 'redis', cap_drop: ['ALL'], cap_add: undefined });
});

test('the storage of compose has room for its first volumes on a disk of 50 GB', () => {
  const limit = /-master\.volumeSizeLimitMB=(\d+)/.exec(compose.services.s3?.command?.[0] ?? '')?.[1];
  expect(Number(limit) * 20).toBeLessThan(50_000);
});

test('compose is whole without its own storage', () => {
  const rest = Object.entries(compose.services).filter(([name]) => !['s3', 'bucket'].includes(name));
  const needed = rest.flatMap(([, { depends_on = {} }]) =>
    Object.keys(depends_on).filter((name) => depends_on[name]?.required !== false),
  );
  expect(needed).toContain('postgres');
  expect(needed.filter((name) => ['s3', 'bucket'].includes(name))).toEqual([]);
});

test('the log of the proxy has no addresses of requests, also of those that fail', () => {
  expect(read('Caddyfile')).toMatch(/^\{\n\tlog \{[^}]*\bformat filter \{[^}]*\brequest>uri delete\n/m);
});

const files = readdirSync(placeOf('kubernetes/'));
const manifests = files
  .filter((name) => name !== 'kustomization.yaml')
  .flatMap((name) => parseAllDocuments(read(`kubernetes/${name}`)).map((document) => document.toJS()));
const data = Object.assign({}, ...manifests.map((each) => ({ ...each.data, ...each.stringData })));

test('the kustomization names every manifest', () => {
  const { resources } = parse(read('kubernetes/kustomization.yaml'));
  expect([...resources, 'kustomization.yaml'].sort()).toEqual(files.sort());
});

test('Kubernetes configures Inlet by variables that there are, with values that are allowed', () => {
  expect(unknown(data)).toEqual([]);
  expect(loadConfig({ ...data, ADMIN_PASSWORD: 'own' }).metricsPort).toBe(9464);
});

test('nothing in Kubernetes starts with a password that was handed out', () => {
  expect(() => loadConfig(data)).toThrow('ADMIN_PASSWORD is not set');
});

test('what all pods of the API lack takes none of them out of service', () => {
  const { spec } = manifests.find(({ metadata }) => metadata.name === 'inlet-api');
  const { httpGet } = spec.template.spec.containers[0].readinessProbe;
  expect(httpGet).toEqual({ path: '/health/live', port: 'http' });
});

test('nothing that a scaler has the say in is set back by an apply', () => {
  const scaled = manifests.flatMap(({ spec }) => spec?.scaleTargetRef?.name ?? []);
  expect(scaled.sort()).toEqual(['inlet-api', 'inlet-worker']);
  for (const { metadata, spec } of manifests.filter(({ kind }) => kind === 'Deployment'))
    expect(scaled.includes(metadata.name) && 'replicas' in spec, metadata.name).toBe(false);
});

test('every pod runs as nobody, on a root file system that is read-only, and ends within its time', () => {
  const pods = manifests
    .filter(({ kind }) => ['Deployment', 'Job'].includes(kind))
    .map(({ spec }) => spec.template.spec);
  expect(pods).toHaveLength(3);
  for (const { securityContext, containers, volumes, terminationGracePeriodSeconds } of pods) {
    expect(securityContext.runAsNonRoot).toBe(true);
    for (const each of containers) {
      expect(each.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      for (const { name } of each.volumeMounts)
        expect(volumes.map((volume: { name: string }) => volume.name)).toContain(name);
    }
    if (terminationGracePeriodSeconds) expect(terminationGracePeriodSeconds).toBeGreaterThan(110);
  }
});

test.each(['inlet-api.service', 'inlet-worker@.service'])(
  'what ends %s leaves it to the process to end its tools, and an encoder without memory ends alone',
  (unit) => {
    const lines = read(`systemd/${unit}`).split('\n');
    expect(lines).toContain('KillMode=mixed');
    if (unit.includes('worker')) expect(lines).toContain('OOMPolicy=continue');
    expect(Number(lines.find((line) => line.startsWith('TimeoutStopSec='))?.split('=')[1])).toBeGreaterThan(
      loadConfig({}).shutdownMs / 1000,
    );
  },
);
