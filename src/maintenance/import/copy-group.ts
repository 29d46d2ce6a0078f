import { type GroupEdit, parseGroup } from '#access/user-groups/group.schemas.ts';
import { insertGroup, lockGroup, updateGroup } from '#access/user-groups/groups.queries.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { SourceError } from './catalogue-source.ts';
import type { ItemResult, KnownItem } from './import-items.queries.ts';
import type { ImportServices } from './import-services.ts';
import { copyRow } from './imported-rows.ts';
import type { SourceGroup } from './source.schemas.ts';

/** Copies a group with its roles and members, or brings the copy up to date. @throws {HttpError | SourceError} if it is not valid here */
export async function copyGroup(
  item: SourceGroup,
  digest: string,
  known: KnownItem,
  services: ImportServices,
): Promise<ItemResult> {
  const { identifier: id } = item;
  const group = planGroup(item);
  // Every installation has the group of service accounts, at first without members.
  const isUnused = async (trx: Transaction) => {
    if (id !== SERVICE_ACCOUNTS) return false;
    const here = await lockGroup(trx, id);
    return here !== undefined && here.roles.length + here.members.length === 0;
  };
  const write = async (trx: Transaction) => {
    await insertGroup(trx, id, group);
    await updateGroup(trx, id, group);
  };
  return copyRow({ kind: 'group', id, digest, known, isUnused, write }, services);
}

/** Plans the copy of a group. @throws {HttpError | SourceError} if it is not valid here */
export function planGroup({ identifier, name, description, roles, members }: SourceGroup): GroupEdit {
  if (!IDENTIFIER.test(identifier))
    throw new SourceError(
      `Its \`identifier\` is ${excerpt(identifier)}; allowed are 1 to 128 lower-case letters, digits and _.`,
    );
  return parseGroup(new Map(Object.entries({ name, description, roles, members })));
}

/** The group that the database is created with. */
const SERVICE_ACCOUNTS = 'mh_default_org_external_applications';

/** As the database requires it. */
const IDENTIFIER = /^[a-z0-9_]{1,128}$/;
