import { expect, test } from 'vitest';
import { VARIABLES } from './config/environment.ts';
import { describeConfig, loadConfig } from './config.ts';

const SECRET = 'hush-hush';

test.each([
  { DATABASE_URL: `postgres://inlet:${SECRET}@db/inlet` },
  { DATABASE_URL: `postgres://db/inlet?user=inlet&password=${SECRET}` },
  { REDIS_URL: `redis://:${SECRET}@cache` },
  { REDIS_URL: `rediss://cache/1?password=${SECRET}` },
  { ADMIN_PASSWORD: SECRET },
  { URL_SIGNING_SECRET: SECRET },
])('the configuration in the log shows no secret: %j', (environment) => {
  const config = loadConfig(environment);
  expect(JSON.stringify(config)).toContain(SECRET);
  expect(JSON.stringify(describeConfig(config))).not.toContain(SECRET);
});

const WRONG = [
  `mysql://inlet:${SECRET}@db/inlet`,
  `mysql://db/inlet?password=${SECRET}`,
  `mysql:/inlet:${SECRET}@db`,
  `inlet:${SECRET}@db/inlet`,
  `:${SECRET}@db`,
];

test.each(
  VARIABLES.filter((name) => /_URL$|_JWKS$/.test(name)).flatMap((name) =>
    WRONG.map((value) => [name, value] as const),
  ),
)('a wrong %s is refused without the password in it: %s', (name, value) => {
  const load = () => loadConfig({ [name]: value });
  expect(load).toThrow(new RegExp(`^${name} is (?!.*${SECRET}).*; allowed is`));
});
