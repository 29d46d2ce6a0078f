import { refusal } from '#platform/http/errors/errors.ts';
import { tryParseJson } from '#platform/text/json.ts';
import { childOf, InvalidXml, parseXml, type XmlElement } from '#platform/text/xml.ts';
import { type AclEntry, distinctEntries, MAX_ENTRIES, StrictEntry } from './acl.ts';

export const UNREADABLE_POLICY = refusal(
  400,
  (reason: string) =>
    `The access control list is not valid: ${reason}. Allowed are XACML 2.0, <acl> with <ace> elements, and JSON such as {"acl": {"ace": [{"role": "ROLE_STUDENT", "action": "read"}]}}.`,
  ['it has neither rules nor entries'],
);

/** An entry before validation; without `allow`, it allows. */
interface Given {
  role: unknown;
  action: unknown;
  allow?: unknown;
}

/** Parses the ACL sent with a recording: XACML 2.0, or the reference server's XML or JSON. */
export function parseForeignAcl(text: string): AclEntry[] {
  const given = /^\s*[[{]/.test(text) ? entriesOfJson(text) : entriesOfXml(text);
  if (given.length > MAX_ENTRIES) throw UNREADABLE_POLICY(`it has more than ${MAX_ENTRIES} entries`);
  return distinctEntries(given.map(entryOf));
}

function entryOf({ role, action, allow }: Given): AclEntry {
  const parsed = StrictEntry.safeParse({ role, action, allow: allow ?? true });
  if (parsed.success) return parsed.data;
  throw UNREADABLE_POLICY('an entry has a missing or invalid role or action');
}

function entriesOfJson(text: string): Given[] {
  const json = tryParseJson(text) as { acl?: { ace?: unknown } } | unknown[] | null | undefined;
  const list = Array.isArray(json) ? json : json?.acl && (json.acl.ace ?? []);
  const entries = list === undefined ? undefined : [list].flat();
  if (!entries?.every(isObject)) throw UNREADABLE_POLICY('the JSON has another form');
  return entries as Given[];
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function entriesOfXml(text: string): Given[] {
  const root = rootOf(text);
  if (root.name === 'acl') return root.children.filter(({ name }) => name === 'ace').map(entryOfAce);
  if (root.name === 'Policy') return root.children.filter(({ name }) => name === 'Rule').flatMap(entriesOfRule);
  throw UNREADABLE_POLICY('it has neither rules nor entries');
}

function rootOf(text: string): XmlElement {
  try {
    return parseXml(text);
  } catch (error) {
    throw error instanceof InvalidXml ? UNREADABLE_POLICY(error.message) : error;
  }
}

function entryOfAce(ace: XmlElement): Given {
  const text = (name: string) => childOf(ace, name)?.text.trim();
  return { role: text('role'), action: text('action'), allow: text('allow') };
}

/** The condition holds the roles, the target the actions. A rule without roles is the default rule and is ignored. */
function entriesOfRule(rule: XmlElement): Given[] {
  const effect = rule.attributes.get('Effect');
  const [target, condition] = [childOf(rule, 'Target'), childOf(rule, 'Condition')];
  const actions = (target?.children ?? []).filter(({ name }) => name === 'Actions').flatMap(valuesIn);
  const roles = condition ? valuesIn(condition) : [];
  return roles.flatMap((role) => actions.map((action) => ({ role, action, allow: effect === 'Permit' })));
}

function valuesIn(element: XmlElement): string[] {
  return element.children.flatMap((child) => (child.name === 'AttributeValue' ? [child.text.trim()] : valuesIn(child)));
}
