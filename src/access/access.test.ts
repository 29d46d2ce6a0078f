import { scryptSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HttpError } from '#platform/http/errors/errors.ts';
import { hashPassword, verifyPassword } from './accounts/secrets.ts';
import { parseAcl, parseStrictAcl } from './acl/acl.ts';
import { parseForeignAcl } from './acl/foreign-acl.ts';
import { Principal, requireOwnAgent } from './principal.ts';
import { accountRoles, userRole } from './roles/roles.ts';

describe('passwords', () => {
  test('a hash accepts its password and no other, and never repeats', async () => {
    const [hash, again] = await Promise.all([hashPassword('pä:ss'), hashPassword('pä:ss')]);
    expect(hash).toMatch(/^scrypt\$N=16384,r=8,p=5\$/);
    expect(hash).not.toBe(again);
    expect(hash).not.toContain('pä:ss');
    const matches = ['pä:ss', 'pa:ss', ''].map((password) => verifyPassword(password, hash));
    expect(await Promise.all(matches)).toEqual([true, false, false]);
  });

  test('a hash made with other parameters is verified with these', async () => {
    const key = scryptSync('x', Buffer.from('AAAA', 'base64url'), 32, { N: 2, r: 1, p: 1 });
    const hash = `scrypt$N=2,r=1,p=1$AAAA$${key.toString('base64url')}`;
    expect([await verifyPassword('x', hash), await verifyPassword('y', hash)]).toEqual([true, false]);
  });

  test.each(['', 'plain', 'scrypt$N=16384,r=8,p=5$$'])('the stored hash %j is an error, not a match', (hash) =>
    expect(verifyPassword('', hash)).rejects.toThrow('unsupported format'),
  );
});

describe('roles', () => {
  test.each([
    ['ada', 'ROLE_USER_ADA'],
    ['Ada_L2', 'ROLE_USER_ADA_L2'],
    ['müller', 'ROLE_USER_m~FC~ller'],
    ['Jane.Doe@x-y', 'ROLE_USER_Jane~2E~Doe~40~x~2D~y'],
    ['jane.doe@x-y', 'ROLE_USER_jane~2E~doe~40~x~2D~y'],
    ['m~FC~ller', 'ROLE_USER_m~7E~FC~7E~ller'],
    ['😀', 'ROLE_USER_~1F600~'],
  ])('%s has the role %s of its own', (username, role) => {
    expect(userRole(username)).toBe(role);
  });

  test('no two names have the same role, but for plain ones that differ in case alone', () => {
    const piece = fc.constantFrom('a', 'A', 'FC', '2E', '_', '~', '.', 'ü', 'u\u0308', ' ', '😀', '李');
    const name = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
    const any = fc.oneof(name, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 }));
    const meant = (username: string) => (/^\w+$/.test(username) ? username.toUpperCase() : username);
    const alike = (one: string, other: string) => (userRole(one) === userRole(other)) === (meant(one) === meant(other));
    fc.assert(fc.property(any, any, alike), { numRuns: 2000 });
  });

  test('the role of the longest name fits into an access control list, and is nobody else’s', () => {
    const long = '李'.repeat(128);
    const roles = [long, `${long.slice(1)}明`, `明${long.slice(1)}`].map(userRole);
    expect(new Set(roles).size).toBe(3);
    for (const role of roles) expect(role).toMatch(/^ROLE_USER_(~\w+~)+\w*~?\w*\.[0-9a-f]{64}$/);
    expect(roles.map(({ length }) => length)).toEqual([255, 255, 255]);
  });

  test.each(['ROLE_ADMIN', 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS'])(
    '%s brings the whole API and acting for others, and no more rights than that',
    (granted) => {
      const roles = accountRoles('service', [granted]);
      const api = ['ROLE_SUDO', 'ROLE_API', 'ROLE_API_EVENTS_CREATE', 'ROLE_API_STATISTICS_VIEW'];
      expect([...roles]).toEqual(expect.arrayContaining(api));
      expect(roles.has('ROLE_ADMIN')).toBe(granted === 'ROLE_ADMIN');
    },
  );

  const ofAgent = (agentId?: string) =>
    new Principal({ username: 'hall', name: '', email: '', provider: 'inlet', roles: new Set(), agentId });

  test('an account that is for one agent speaks for no other, whatever its roles', () => {
    for (const bound of [ofAgent('Hall/1'), ofAgent('Hall/1').withRoles(['ROLE_ADMIN'])]) {
      expect(bound.agentId).toBe('Hall/1');
      expect(() => requireOwnAgent(bound, 'Hall/1')).not.toThrow();
      const refusal = "This account may act for the capture agent 'Hall/1' only.";
      for (const other of ['hall/1', 'Hall/1 ', 'Hall', ''])
        expect(() => requireOwnAgent(bound, other)).toThrow(refusal);
    }
    // Others speak for any agent that their roles let them.
    expect(ofAgent().agentId).toBeUndefined();
    expect(() => requireOwnAgent(ofAgent(), 'Hall/1')).not.toThrow();
  });
});

describe('an access control list', () => {
  test('allows with every entry, whatever it says', () => {
    const entries = [
      { role: 'ROLE_A', action: 'read' },
      { role: 'ROLE_A', action: 'write', allow: false },
      { role: 'ROLE_B', action: 'annotate', allow: true, comment: 'ignored' },
    ];
    expect(parseAcl(JSON.stringify(entries))).toEqual(
      entries.map(({ role, action }) => ({ role, action, allow: true })),
    );
    expect(parseAcl('[]')).toEqual([]);
    // One that is repeated counts once.
    expect(parseAcl(JSON.stringify([entries[0], { ...entries[0], allow: false }]))).toHaveLength(1);
  });

  test.each([
    ...['', '{', '{}', 'null', '"read"', '[null]', '["read"]'],
    ...['[{"role":"ROLE_A"}]', '[{"action":"read"}]', '[{"role":"","action":"read"}]'],
    ...['[{"role":" ","action":"read"}]', '[{"role":7,"action":"read"}]'],
    ...['[{"role":"ROLE\\u0000","action":"read"}]', '[{"role":"\\ud800","action":"read"}]'],
    JSON.stringify([{ role: 'R'.repeat(256), action: 'read' }]),
  ])('%s cannot be read', (text) => {
    expect(() => parseAcl(text)).toThrow(new HttpError(400, 'Unable to parse acl'));
  });

  test.each([
    ['an object', '{"a":1}', 'an object'],
    ['a list', '[]', 'a list'],
    ['more levels than can be written out', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'a list'],
    ['half a surrogate pair', '"\\ud800"', '\ufffd'],
  ])('with a role that is %s is refused with its name', (_name, role, named) => {
    const message = `One of the access control elements is missing a property. The action was 'read', allow was 'true' and the role was '${named}'`;
    expect(() => parseStrictAcl(`[{"allow":true,"action":"read","role":${role}}]`)).toThrow(
      new HttpError(400, message),
    );
  });
});

describe('an access control list of the reference server', () => {
  const rule = (role: string, action: string, effect = 'Permit') => `
  <Rule RuleId="r" Effect="${effect}">
    <Target><Actions><Action><ActionMatch MatchId="urn:oasis:names:tc:xacml:1.0:function:string-equal">
      <AttributeValue DataType="http://www.w3.org/2001/XMLSchema#string">${action}</AttributeValue>
      <ActionAttributeDesignator AttributeId="urn:oasis:names:tc:xacml:1.0:action:action-id"/>
    </ActionMatch></Action></Actions></Target>
    <Condition><Apply FunctionId="urn:oasis:names:tc:xacml:1.0:function:string-is-in">
      <AttributeValue DataType="http://www.w3.org/2001/XMLSchema#string">${role}</AttributeValue>
      <SubjectAttributeDesignator AttributeId="urn:oasis:names:tc:xacml:2.0:subject:role"/>
    </Apply></Condition>
  </Rule>`;
  const policy = (...rules: string[]) => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Policy PolicyId="mediapackage-1" RuleCombiningAlgId="urn:oasis:names:tc:xacml:1.0:rule-combining-algorithm:permit-overrides"
  Version="2.0" xmlns="urn:oasis:names:tc:xacml:2.0:policy:schema:os">${rules.join('')}</Policy>`;
  const [read, write] = ['read', 'write'].map((action) => ({ allow: true, action, role: 'R' }));

  test('in XACML lists roles and actions; the rule for everybody else says nothing', () => {
    const rules = [rule('R', 'read'), rule('R', 'write'), rule('ROLE_GUEST', 'read', 'Deny')];
    expect(parseForeignAcl(policy(...rules, '<Rule RuleId="DenyRule" Effect="Deny"/>'))).toEqual([
      ...[read, write, { allow: false, action: 'read', role: 'ROLE_GUEST' }],
    ]);
    // Nobody is let in by a rule that names no role.
    expect(parseForeignAcl(policy('<Rule RuleId="all" Effect="Permit"/>'))).toEqual([]);
  });

  test.each([
    '{"acl":{"ace":[{"role":"R","action":"read"},{"role":"R","action":"write","allow":"false"}]}}',
    '<acl xmlns="http://org.opencastproject.security"><ace><role>R</role><action>read</action><allow>true</allow></ace><ace><role>R</role><action>write</action><allow>false</allow></ace></acl>',
    '[{"role":"R","action":"read","allow":true},{"role":"R","action":"write","allow":false}]',
  ])('is read: %#', (text) => {
    expect(parseForeignAcl(text)).toEqual([read, { ...write, allow: false }]);
  });

  test('may be a single entry of JSON, or none', () => {
    expect(parseForeignAcl('{"acl":{"ace":{"role":"R","action":"read"}}}')).toHaveLength(1);
    expect(parseForeignAcl('{"acl":{}}')).toEqual([]);
  });

  test.each([
    ...['', 'true', '{', '{"acl":7}x', '[1]', '[null]', '{"acl":{"ace":[{"role":"R"}]}}'],
    ...['<html/>', '<Policy', '<!DOCTYPE Policy [<!ENTITY a "b">]><Policy/>', policy(rule(' ', 'read'))],
    `[${'{"role":"R","action":"read"},'.repeat(2000)}{"role":"R","action":"read"}]`,
  ])('is refused when it is none: %#', (text) => {
    expect(() => parseForeignAcl(text)).toThrow('is not valid');
  });
});
