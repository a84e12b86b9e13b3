import { computed, listOf, nullable, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { toPlan } from '../workspaces/workspaces-store.ts'
import type { RowKey } from '../change-all-rows.ts'
import type { Invitation } from './invitation.ts'
import type { KnownPerson, ListedMembership, Member, Membership } from './member.ts'
import { toRole, type Role } from '../../values/role.ts'

const { workspaces, invitations, members, users } = tables

const WORKSPACE_ROW = {
  workspace_id: workspaces.id,
  slug: workspaces.slug,
  account_name: workspaces.name,
  plan: workspaces.plan,
  workspace_created_at: workspaces.created_at,
  workspace_created_by: workspaces.created_by,
  moving_since: workspaces.moving_since,
}

const MEMBER_ROW = pick(members, 'user_id', 'role', 'created_at')

const MEMBERSHIP_ROW = { ...MEMBER_ROW, ...WORKSPACE_ROW }

const INVITATION_ROW = pick(
  invitations,
  'workspace_id',
  'id',
  'role',
  'uses_left',
  'created_by',
  'created_at',
  'expires_at',
  'revoked_at',
)

/** An invitation with its workspace and the name of its creator. `workspace_id` is the id of the workspace. */
const INVITED_ROW = { ...INVITATION_ROW, invited_by: nullable(users.name), ...WORKSPACE_ROW }

const WORKSPACE_COLUMNS =
  'a.id as workspace_id, a.slug, a.name as account_name, a.plan, a.created_at as workspace_created_at, a.created_by as workspace_created_by, a.moving_since'
const MEMBERSHIPS = `
  select m.user_id, m.role, m.created_at, ${WORKSPACE_COLUMNS} from members m join workspaces a on a.id = m.workspace_id`
const INVITATION_COLUMNS = listOf(INVITATION_ROW)

export function insertMember(
  workspaceId: string,
  { userId, role, createdAt }: Pick<Membership, 'userId' | 'role' | 'createdAt'>,
): Query<boolean> {
  return {
    name: 'insert_member',
    text: 'insert into members (workspace_id, user_id, role, created_at) values ($1, $2, $3, $4)',
    values: [workspaceId, userId, role, createdAt],
    read: changed,
  }
}

/** Uses the primary key. */
export function findMember(
  workspaceId: string,
  userId: string,
): Query<Pick<Membership, 'userId' | 'role' | 'createdAt'> | null> {
  return {
    name: 'find_member',
    text: 'select user_id, role, created_at from members where workspace_id = $1 and user_id = $2',
    values: [workspaceId, userId],
    read: firstOrNull(MEMBER_ROW, (row) => ({
      userId: row.user_id,
      role: toRole(row.role),
      createdAt: row.created_at,
    })),
  }
}

/** Uses the unique index on the slug, and the primary key of `members`. */
export function findMembership(userId: string, slug: string): Query<Membership | null> {
  return {
    name: 'find_membership',
    text: `${MEMBERSHIPS} where a.slug = $2 and m.user_id = $1`,
    values: [userId, slug],
    read: firstOrNull(MEMBERSHIP_ROW, toMembership),
  }
}

/**
 * Lists a user's memberships, ordered by the name of the workspace, and says in which workspaces API keys are held. Uses
 * the indexes `members_by_user` and `api_keys_held`.
 */
export function listMembershipRows(userId: string, now: Date): Query<ListedMembership[]> {
  return {
    name: 'list_memberships',
    text: `select m.user_id, m.role, m.created_at, ${WORKSPACE_COLUMNS}, exists (
          select 1 from api_keys k where k.workspace_id = a.id
            and k.held_at is not null and k.confirmed_at is null and k.revoked_at is null
            and (k.grace_until is null or k.grace_until > $2)) as has_held_keys
      from members m join workspaces a on a.id = m.workspace_id where m.user_id = $1 order by a.name, a.id`,
    values: [userId, now],
    read: all({ ...MEMBERSHIP_ROW, has_held_keys: computed.bool }, (row) => ({
      ...toMembership(row),
      hasHeldKeys: row.has_held_keys,
    })),
  }
}

export function countMemberships(userId: string): Query<number> {
  return {
    name: 'count_memberships',
    text: 'select count(*) as memberships from members where user_id = $1',
    values: [userId],
    read: one({ memberships: computed.int8 }, (row) => Number(row.memberships)),
  }
}

/** Lists members in the order in which they joined, at most `rowsMax`. Uses the primary key. */
export function listMemberRows(workspaceId: string, rowsMax: number): Query<Member[]> {
  return {
    name: 'list_members',
    text: `select m.user_id, u.name, m.role, m.created_at from members m join users u on u.id = m.user_id
      where m.workspace_id = $1 order by m.created_at, m.user_id limit $2`,
    values: [workspaceId, rowsMax],
    read: all({ ...MEMBER_ROW, name: users.name }, (row) => ({
      userId: row.user_id,
      name: row.name,
      role: toRole(row.role),
      createdAt: row.created_at,
    })),
  }
}

/** Lists the users with these ids, whether or not they are members of the workspace. Uses the primary keys. */
export function listKnownPersonRows(workspaceId: string, userIds: readonly string[]): Query<KnownPerson[]> {
  return {
    name: 'list_known_people',
    text: `select u.id, u.name, m.user_id is not null as is_member
      from users u left join members m on m.workspace_id = $1 and m.user_id = u.id where u.id = any($2::text[])`,
    values: [workspaceId, userIds],
    read: all({ ...pick(users, 'id', 'name'), is_member: computed.bool }, (row) => ({
      userId: row.id,
      name: row.name,
      isMember: row.is_member,
    })),
  }
}

export function countOwners(workspaceId: string): Query<number> {
  return {
    name: 'count_owners',
    text: `select count(*) as owners from members where workspace_id = $1 and role = 'owner'`,
    values: [workspaceId],
    read: one({ owners: computed.int8 }, (row) => Number(row.owners)),
  }
}

export function updateRole(workspaceId: string, userId: string, role: Role): Query<boolean> {
  return {
    name: 'update_member_role',
    text: 'update members set role = $3 where workspace_id = $1 and user_id = $2',
    values: [workspaceId, userId, role],
    read: changed,
  }
}

export function deleteMember(workspaceId: string, userId: string): Query<boolean> {
  return {
    name: 'delete_member',
    text: 'delete from members where workspace_id = $1 and user_id = $2',
    values: [workspaceId, userId],
    read: changed,
  }
}

export function insertInvitation(invitation: Invitation, secretHash: Buffer): Query<boolean> {
  return {
    name: 'insert_invitation',
    text: `insert into invitations (${INVITATION_COLUMNS}, secret_hash) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      invitation.workspaceId,
      invitation.id,
      invitation.role,
      invitation.usesLeft,
      invitation.createdBy,
      invitation.createdAt,
      invitation.expiresAt,
      invitation.revokedAt,
      secretHash,
    ],
    read: changed,
  }
}

export interface InvitationRow {
  readonly invitation: Invitation
  readonly workspace: Membership['workspace']
  readonly invitedBy: string | null
}

/** Returns an invitation, even if it can no longer be accepted. Uses the index `invitations_by_secret_hash`. */
export function findInvitationRow(secretHash: Buffer): Query<InvitationRow | null> {
  return {
    name: 'find_invitation',
    text: `select i.id, i.role, i.uses_left, i.created_by, i.created_at, i.expires_at, i.revoked_at,
        u.name as invited_by, ${WORKSPACE_COLUMNS}
      from invitations i join workspaces a on a.id = i.workspace_id left join users u on u.id = i.created_by
      where i.secret_hash = $1`,
    values: [secretHash],
    read: firstOrNull(INVITED_ROW, (row) => ({
      invitation: toInvitation(row),
      workspace: toWorkspace(row),
      invitedBy: row.invited_by,
    })),
  }
}

/** Counts one use of an open invitation. Returns false if the invitation can no longer be accepted. */
export function takeInvitationUse(workspaceId: string, id: string, now: Date): Query<boolean> {
  return {
    name: 'take_invitation_use',
    text: `update invitations set uses_left = uses_left - 1
      where workspace_id = $1 and id = $2 and uses_left > 0 and revoked_at is null and expires_at > $3`,
    values: [workspaceId, id, now],
    read: changed,
  }
}

/** Lists the invitations that can still be accepted, oldest first. Uses the primary key. */
export function listOpenInvitations(workspaceId: string, now: Date): Query<Invitation[]> {
  return {
    name: 'list_open_invitations',
    text: `select ${INVITATION_COLUMNS} from invitations
      where workspace_id = $1 and uses_left > 0 and revoked_at is null and expires_at > $2 order by created_at, id`,
    values: [workspaceId, now],
    read: all(INVITATION_ROW, toInvitation),
  }
}

/**
 * Lists the invitations that a member created and that can still be accepted, oldest first. Uses the index
 * `invitations_of_creator`.
 */
export function listOpenInvitationsBy(workspaceId: string, userId: string, now: Date): Query<Invitation[]> {
  return {
    name: 'list_open_invitations_by',
    text: `select ${INVITATION_COLUMNS} from invitations
      where workspace_id = $1 and created_by = $2 and uses_left > 0 and revoked_at is null and expires_at > $3
      order by created_at, id`,
    values: [workspaceId, userId, now],
    read: all(INVITATION_ROW, toInvitation),
  }
}

/** Revokes an open invitation. Returns false if the invitation can no longer be accepted. */
export function revokeInvitationRow(workspaceId: string, id: string, now: Date): Query<boolean> {
  return {
    name: 'revoke_invitation',
    text: `update invitations set revoked_at = $3
      where workspace_id = $1 and id = $2 and uses_left > 0 and revoked_at is null and expires_at > $3`,
    values: [workspaceId, id, now],
    read: changed,
  }
}

/**
 * Revokes the open invitations that a member created for any of these roles. Returns the ids of the invitations. Uses
 * the index `invitations_of_creator`.
 */
export function revokeInvitationsBy(
  workspaceId: string,
  userId: string,
  roles: readonly Role[],
  now: Date,
): Query<string[]> {
  return {
    name: 'revoke_invitations_by',
    text: `update invitations set revoked_at = $4
      where workspace_id = $1 and created_by = $2 and role = any($3::text[])
        and uses_left > 0 and revoked_at is null and expires_at > $4
      returning id`,
    values: [workspaceId, userId, roles, now],
    read: all(pick(invitations, 'id'), (row) => row.id),
  }
}

/**
 * Revokes open invitations of all workspaces, at most `rowsMax` after the key `after`, and returns their keys in order.
 * Uses the primary key.
 */
export function revokeInvitationsAfter(after: RowKey, rowsMax: number, now: Date): Query<RowKey[]> {
  return {
    name: 'revoke_invitations_after',
    text: `with revoked as (
        update invitations set revoked_at = $4
        where (workspace_id, id) in (
          select workspace_id, id from invitations
          where (workspace_id, id) > ($1, $2) and uses_left > 0 and revoked_at is null and expires_at > $4
          order by workspace_id, id limit $3)
        returning workspace_id, id
      )
      select workspace_id, id from revoked order by workspace_id, id`,
    values: [after.workspaceId, after.id, rowsMax, now],
    read: all(pick(invitations, 'workspace_id', 'id'), (row) => ({ workspaceId: row.workspace_id, id: row.id })),
  }
}

function toMembership(row: RowOf<typeof MEMBERSHIP_ROW>): Membership {
  return { workspace: toWorkspace(row), userId: row.user_id, role: toRole(row.role), createdAt: row.created_at }
}

function toWorkspace(row: RowOf<typeof WORKSPACE_ROW>): Membership['workspace'] {
  return {
    id: row.workspace_id,
    slug: row.slug,
    name: row.account_name,
    plan: toPlan(row.plan),
    createdAt: row.workspace_created_at,
    createdBy: row.workspace_created_by,
    movingSince: row.moving_since,
  }
}

function toInvitation(row: RowOf<typeof INVITATION_ROW>): Invitation {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    role: toRole(row.role),
    usesLeft: row.uses_left,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }
}
