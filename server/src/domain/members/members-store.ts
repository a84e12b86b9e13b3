import { all, changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import { toPlan } from '../accounts/accounts-store.ts'
import type { Invitation } from './invitation.ts'
import type { KnownPerson, Member, Membership } from './member.ts'
import { toRole, type Role } from './role.ts'

const ACCOUNT_COLUMNS = 'a.id as account_id, a.slug, a.name as account_name, a.plan, a.created_at as account_created_at'
const MEMBERSHIPS = `
  select m.user_id, m.role, m.created_at, ${ACCOUNT_COLUMNS} from members m join accounts a on a.id = m.account_id`
const INVITATION_COLUMNS = 'account_id, id, role, uses_left, created_by, created_at, expires_at, revoked_at'

export function insertMember(
  accountId: string,
  { userId, role, createdAt }: Pick<Membership, 'userId' | 'role' | 'createdAt'>,
): Query<boolean> {
  return {
    name: 'insert_member',
    text: 'insert into members (account_id, user_id, role, created_at) values ($1, $2, $3, $4)',
    values: [accountId, userId, role, createdAt],
    read: changed,
  }
}

/** By the primary key. */
export function findMember(
  accountId: string,
  userId: string,
): Query<Pick<Membership, 'userId' | 'role' | 'createdAt'> | null> {
  return {
    name: 'find_member',
    text: 'select user_id, role, created_at from members where account_id = $1 and user_id = $2',
    values: [accountId, userId],
    read: firstOrNull((row) => ({ userId: row['user_id'], role: toRole(row['role']), createdAt: row['created_at'] })),
  }
}

/** By the unique slug, and the primary key of members. */
export function findMembership(userId: string, slug: string): Query<Membership | null> {
  return {
    name: 'find_membership',
    text: `${MEMBERSHIPS} where a.slug = $2 and m.user_id = $1`,
    values: [userId, slug],
    read: firstOrNull(toMembership),
  }
}

/** By the workspaces' names. By `members_by_user`. */
export function listMembershipRows(userId: string): Query<Membership[]> {
  return {
    name: 'list_memberships',
    text: `${MEMBERSHIPS} where m.user_id = $1 order by a.name, a.id`,
    values: [userId],
    read: all(toMembership),
  }
}

export function countMemberships(userId: string): Query<number> {
  return {
    name: 'count_memberships',
    text: 'select count(*) as memberships from members where user_id = $1',
    values: [userId],
    read: (rows) => Number(rows[0]?.['memberships']),
  }
}

/** Oldest first, `rowsMax` at the most. By the primary key. */
export function listMemberRows(accountId: string, rowsMax: number): Query<Member[]> {
  return {
    name: 'list_members',
    text: `select m.user_id, u.name, m.role, m.created_at from members m join users u on u.id = m.user_id
      where m.account_id = $1 order by m.created_at, m.user_id limit $2`,
    values: [accountId, rowsMax],
    read: all((row) => ({
      userId: row['user_id'],
      name: row['name'],
      role: toRole(row['role']),
      createdAt: row['created_at'],
    })),
  }
}

/** Members or not. By the primary keys. */
export function listKnownPersonRows(accountId: string, userIds: readonly string[]): Query<KnownPerson[]> {
  return {
    name: 'list_known_people',
    text: `select u.id, u.name, m.user_id is not null as is_member
      from users u left join members m on m.account_id = $1 and m.user_id = u.id where u.id = any($2::text[])`,
    values: [accountId, userIds],
    read: all((row) => ({ userId: row['id'], name: row['name'], isMember: row['is_member'] })),
  }
}

export function countOwners(accountId: string): Query<number> {
  return {
    name: 'count_owners',
    text: `select count(*) as owners from members where account_id = $1 and role = 'owner'`,
    values: [accountId],
    read: (rows) => Number(rows[0]?.['owners']),
  }
}

export function updateRole(accountId: string, userId: string, role: Role): Query<boolean> {
  return {
    name: 'update_member_role',
    text: 'update members set role = $3 where account_id = $1 and user_id = $2',
    values: [accountId, userId, role],
    read: changed,
  }
}

export function deleteMember(accountId: string, userId: string): Query<boolean> {
  return {
    name: 'delete_member',
    text: 'delete from members where account_id = $1 and user_id = $2',
    values: [accountId, userId],
    read: changed,
  }
}

export function insertInvitation(invitation: Invitation, secretHash: Buffer): Query<boolean> {
  return {
    name: 'insert_invitation',
    text: `insert into invitations (${INVITATION_COLUMNS}, secret_hash) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      invitation.accountId,
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
  readonly account: Membership['account']
  readonly invitedBy: string | null
}

/** Open or not. By `invitations_by_secret_hash`. */
export function findInvitationRow(secretHash: Buffer): Query<InvitationRow | null> {
  return {
    name: 'find_invitation',
    text: `select i.id, i.role, i.uses_left, i.created_by, i.created_at, i.expires_at, i.revoked_at,
        u.name as invited_by, ${ACCOUNT_COLUMNS}
      from invitations i join accounts a on a.id = i.account_id left join users u on u.id = i.created_by
      where i.secret_hash = $1`,
    values: [secretHash],
    read: firstOrNull((row) => ({
      invitation: toInvitation(row),
      account: toAccount(row),
      invitedBy: row['invited_by'],
    })),
  }
}

/** Takes one use; false when there is none to be had. */
export function takeInvitationUse(accountId: string, id: string, now: Date): Query<boolean> {
  return {
    name: 'take_invitation_use',
    text: `update invitations set uses_left = uses_left - 1
      where account_id = $1 and id = $2 and uses_left > 0 and revoked_at is null and expires_at > $3`,
    values: [accountId, id, now],
    read: changed,
  }
}

/** The open ones, oldest first. By the primary key. */
export function listOpenInvitations(accountId: string, now: Date): Query<Invitation[]> {
  return {
    name: 'list_open_invitations',
    text: `select ${INVITATION_COLUMNS} from invitations
      where account_id = $1 and uses_left > 0 and revoked_at is null and expires_at > $2 order by created_at, id`,
    values: [accountId, now],
    read: all(toInvitation),
  }
}

/** Takes an open invitation back; false when it is not open. */
export function revokeInvitationRow(accountId: string, id: string, now: Date): Query<boolean> {
  return {
    name: 'revoke_invitation',
    text: `update invitations set revoked_at = $3
      where account_id = $1 and id = $2 and uses_left > 0 and revoked_at is null and expires_at > $3`,
    values: [accountId, id, now],
    read: changed,
  }
}

/** Takes back what a member has open for these roles; answers their ids. */
export function revokeInvitationsBy(
  accountId: string,
  userId: string,
  roles: readonly Role[],
  now: Date,
): Query<string[]> {
  return {
    name: 'revoke_invitations_by',
    text: `update invitations set revoked_at = $4
      where account_id = $1 and created_by = $2 and role = any($3::text[])
        and uses_left > 0 and revoked_at is null and expires_at > $4
      returning id`,
    values: [accountId, userId, roles, now],
    read: all((row) => row['id']),
  }
}

function toMembership(row: Row): Membership {
  return { account: toAccount(row), userId: row['user_id'], role: toRole(row['role']), createdAt: row['created_at'] }
}

function toAccount(row: Row): Membership['account'] {
  return {
    id: row['account_id'],
    slug: row['slug'],
    name: row['account_name'],
    plan: toPlan(row['plan']),
    createdAt: row['account_created_at'],
  }
}

function toInvitation(row: Row): Invitation {
  return {
    id: row['id'],
    accountId: row['account_id'],
    role: toRole(row['role']),
    usesLeft: row['uses_left'],
    createdBy: row['created_by'],
    createdAt: row['created_at'],
    expiresAt: row['expires_at'],
    revokedAt: row['revoked_at'],
  }
}
