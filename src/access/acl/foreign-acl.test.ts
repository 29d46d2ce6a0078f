import { expect, test } from 'vitest';
import { parseForeignAcl } from './foreign-acl.ts';

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

test('a policy of XACML is a list of roles and actions; the rule for everybody else says nothing', () => {
  const text = policy(
    rule('ROLE_USER_ADA', 'read'),
    rule('ROLE_USER_ADA', 'write'),
    rule('ROLE_GUEST', 'read', 'Deny'),
    '<Rule RuleId="DenyRule" Effect="Deny"/>',
  );
  expect(parseForeignAcl(text)).toEqual([
    { allow: true, action: 'read', role: 'ROLE_USER_ADA' },
    { allow: true, action: 'write', role: 'ROLE_USER_ADA' },
    { allow: false, action: 'read', role: 'ROLE_GUEST' },
  ]);
});

test('a rule that permits without naming a role lets nobody in', () => {
  expect(parseForeignAcl(policy('<Rule RuleId="all" Effect="Permit"/>'))).toEqual([]);
});

test.each([
  ['{"acl":{"ace":[{"role":"R","action":"read"},{"role":"R","action":"write","allow":"false"}]}}'],
  [
    '<acl xmlns="http://org.opencastproject.security"><ace><role>R</role><action>read</action><allow>true</allow></ace><ace><role>R</role><action>write</action><allow>false</allow></ace></acl>',
  ],
  ['[{"role":"R","action":"read","allow":true},{"role":"R","action":"write","allow":false}]'],
])('the lists of the reference server are read: %.20s', (text) => {
  expect(parseForeignAcl(text)).toEqual([
    { allow: true, action: 'read', role: 'R' },
    { allow: false, action: 'write', role: 'R' },
  ]);
});

test('a single entry of JSON needs no list', () => {
  expect(parseForeignAcl('{"acl":{"ace":{"role":"R","action":"read"}}}')).toHaveLength(1);
  expect(parseForeignAcl('{"acl":{}}')).toEqual([]);
});

test.each([
  '',
  'true',
  '{',
  '{"acl":7}x',
  '[1]',
  '[null]',
  '{"acl":{"ace":[{"role":"R"}]}}',
  '<html/>',
  '<Policy',
  '<!DOCTYPE Policy [<!ENTITY a "b">]><Policy/>',
  policy(rule(' ', 'read')),
  `[${'{"role":"R","action":"read"},'.repeat(2000)}{"role":"R","action":"read"}]`,
])('what is no list is refused: %.40s', (text) => {
  expect(() => parseForeignAcl(text)).toThrow('cannot be read');
});
