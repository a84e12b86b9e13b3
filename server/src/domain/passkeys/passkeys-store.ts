import { computed, listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, countChanged, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Applicant, Ceremony } from './ceremony.ts'
import type { CounterOutcome, Passkey } from './passkey.ts'
import type { User } from './user.ts'

const { ceremonies, passkeys, recovery_codes: codes, users } = tables

const PASSKEY_ROW = pick(
  passkeys,
  'user_id',
  'credential_id',
  'name',
  'public_key_cose',
  'counter',
  'transports',
  'created_at',
  'last_used_at',
)

const OWNED_ROW = {
  ...PASSKEY_ROW,
  user_name: users.name,
  user_handle: users.user_handle,
  user_created_at: users.created_at,
}

const CEREMONY_ROW = {
  ...pick(ceremonies, 'kind', 'challenge', 'user_id'),
  data: narrow<Applicant>(ceremonies.data),
  expires_at: ceremonies.expires_at,
}

const PASSKEY_COLUMNS = listOf(PASSKEY_ROW)

export const PASSKEY_INDEX = 'passkeys_pkey'

export function insertUser(user: User): Query<boolean> {
  return {
    name: 'insert_user',
    text: 'insert into users (id, name, user_handle, created_at, joined_at) values ($1, $2, $3, $4, null)',
    values: [user.id, user.name, user.userHandle, user.createdAt],
    read: changed,
  }
}

export function findUser(id: string): Query<User | null> {
  return {
    name: 'find_user',
    text: 'select id, name, user_handle, created_at from users where id = $1',
    values: [id],
    read: firstOrNull(pick(users, 'id', 'name', 'user_handle', 'created_at'), (row) => ({
      id: row.id,
      name: row.name,
      userHandle: row.user_handle,
      createdAt: row.created_at,
    })),
  }
}

/** The data that the audit log records about a user who joins their first workspace. */
export interface Newcomer {
  readonly signedUpAt: Date
  /** The credential ids of the user's passkeys, oldest first. */
  readonly passkeys: readonly string[]
}

/**
 * Records when a user first joined a workspace. Returns null if the user has joined one before. Uses the primary key.
 * If the condition were `joined_at is null`, the planner could instead read all users who have never joined one.
 */
export function markJoined(userId: string, now: Date): Query<Newcomer | null> {
  return {
    name: 'mark_user_joined',
    text: `update users set joined_at = $2 where id = $1 and coalesce(joined_at, 'infinity') = 'infinity'
      returning created_at, array(
        select credential_id from passkeys where user_id = users.id order by created_at, credential_id) as passkeys`,
    values: [userId, now],
    read: firstOrNull({ created_at: users.created_at, passkeys: computed.textArray }, (row) => ({
      signedUpAt: row.created_at,
      passkeys: row.passkeys,
    })),
  }
}

/**
 * Locks users who signed up before this time and have never belonged to a workspace. Returns their ids. Leaves out
 * users whom another transaction has locked. Uses the index `users_never_joined`.
 */
export function lockNewcomers(signedUpBefore: Date, rowsMax: number): Query<string[]> {
  return {
    name: 'lock_newcomers',
    text: `select id from users u
      where joined_at is null and created_at <= $1
        and not exists (select 1 from members m where m.user_id = u.id)
      order by created_at limit $2 for update of u skip locked`,
    values: [signedUpBefore, rowsMax],
    read: all(pick(users, 'id'), (row) => row.id),
  }
}

/**
 * Deletes users, with their sessions, ceremonies, recovery codes and passkeys. Uses each table's index on the user:
 * `sessions_by_user`, `ceremonies_of_user` and `passkeys_by_user`.
 */
export function deleteUsers(ids: readonly string[]): Query<number>[] {
  const tables = ['sessions', 'ceremonies', 'recovery_codes', 'passkeys'] as const
  return [
    ...tables.map((table) => ({
      name: `delete_${table}_of_users`,
      text: `delete from ${table} where user_id = any($1::text[])`,
      values: [ids],
      read: countChanged,
    })),
    { name: 'delete_users', text: 'delete from users where id = any($1::text[])', values: [ids], read: countChanged },
  ]
}

/**
 * Locks a user, so that counts of the user's passkeys or memberships are exact. Returns false if there is no such user.
 */
export function lockUser(id: string): Query<boolean> {
  return {
    name: 'lock_user',
    text: 'select id from users where id = $1 for no key update',
    values: [id],
    read: changed,
  }
}

export function renameUserRow(id: string, name: string): Query<boolean> {
  return {
    name: 'rename_user',
    text: 'update users set name = $2 where id = $1',
    values: [id, name],
    read: changed,
  }
}

export function insertCeremony(secretHash: Buffer, ceremony: Ceremony): Query<boolean> {
  const { kind, challenge, userId, applicant, expiresAt } = ceremony
  return {
    name: 'insert_ceremony',
    text: `insert into ceremonies (secret_hash, kind, challenge, user_id, data, expires_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [secretHash, kind, challenge, userId, applicant === null ? null : JSON.stringify(applicant), expiresAt],
    read: changed,
  }
}

/** Deletes a ceremony and returns it. A second caller gets null. Uses the primary key. */
export function takeCeremonyRow(secretHash: Buffer): Query<Ceremony | null> {
  return {
    name: 'take_ceremony',
    text: 'delete from ceremonies where secret_hash = $1 returning kind, challenge, user_id, data, expires_at',
    values: [secretHash],
    read: firstOrNull(CEREMONY_ROW, (row) => ({
      kind: row.kind,
      challenge: row.challenge,
      userId: row.user_id,
      applicant: row.data,
      expiresAt: row.expires_at,
    })),
  }
}

/** Uses the index `ceremonies_by_end`. */
export function deleteEndedCeremonies(now: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_ceremonies',
    text: `delete from ceremonies where secret_hash in (
        select secret_hash from ceremonies where expires_at <= $1 order by expires_at limit $2 for update skip locked)`,
    values: [now, rowsMax],
    read: countChanged,
  }
}

export function insertPasskey(passkey: Passkey): Query<boolean> {
  return {
    name: 'insert_passkey',
    text: `insert into passkeys (${PASSKEY_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      passkey.userId,
      passkey.credentialId,
      passkey.name,
      passkey.publicKeyCose,
      passkey.counter,
      passkey.transports,
      passkey.createdAt,
      passkey.lastUsedAt,
    ],
    read: changed,
  }
}

/** Returns a passkey and its user. Uses the primary key. */
export function findPasskey(credentialId: string): Query<{ passkey: Passkey; user: User } | null> {
  return {
    name: 'find_passkey',
    text: `select p.user_id, p.credential_id, p.name, p.public_key_cose, p.counter, p.transports, p.created_at,
        p.last_used_at, u.name as user_name, u.user_handle, u.created_at as user_created_at
      from passkeys p join users u on u.id = p.user_id where p.credential_id = $1`,
    values: [credentialId],
    read: firstOrNull(OWNED_ROW, (row) => ({
      passkey: toPasskey(row),
      user: {
        id: row.user_id,
        name: row.user_name,
        userHandle: row.user_handle,
        createdAt: row.user_created_at,
      },
    })),
  }
}

/** Lists a user's passkeys, oldest first. Uses the index `passkeys_by_user`. */
export function listPasskeyRows(userId: string): Query<Passkey[]> {
  return {
    name: 'list_passkeys',
    text: `select ${PASSKEY_COLUMNS} from passkeys where user_id = $1 order by created_at, credential_id`,
    values: [userId],
    read: all(PASSKEY_ROW, toPasskey),
  }
}

export function countPasskeys(userId: string): Query<number> {
  return {
    name: 'count_passkeys',
    text: 'select count(*) as passkeys from passkeys where user_id = $1',
    values: [userId],
    read: one({ passkeys: computed.int8 }, (row) => Number(row.passkeys)),
  }
}

/**
 * Stores a passkey's new signature counter. An authenticator that does not count always reports 0, and that is accepted
 * (WebAuthn, section 6.1.1). If `requestedAt` is given and the passkey was used since then, a lower counter is accepted
 * too: the signature may be older than that use, or may be sent a second time. Uses the primary key.
 */
export function advanceCounter(
  { userId, credentialId }: Pick<Passkey, 'userId' | 'credentialId'>,
  { counter, now, requestedAt }: { counter: number; now: Date; requestedAt: Date | null },
): Query<CounterOutcome> {
  return {
    name: 'advance_passkey_counter',
    text: `with known as (select 1 from passkeys where user_id = $1 and credential_id = $2),
        moved as (
          update passkeys set counter = greatest(counter, $3), last_used_at = $4
          where user_id = $1 and credential_id = $2
            and (counter < $3 or counter = 0 or coalesce(last_used_at >= $5, false))
          returning 1)
      select exists (select 1 from known) as is_known, exists (select 1 from moved) as is_moved`,
    values: [userId, credentialId, counter, now, requestedAt],
    read: one(COUNTER_ROW, toCounterOutcome),
  }
}

export const COUNTER_ROW = { is_known: computed.bool, is_moved: computed.bool }

export function toCounterOutcome(row: RowOf<typeof COUNTER_ROW>): CounterOutcome {
  if (row.is_moved) return 'stored'
  return row.is_known ? 'went_back' : 'passkey_removed'
}

/** Renames a passkey. Returns its name before, or null if the user does not have it. Uses the primary key. */
export function renamePasskeyRow(userId: string, credentialId: string, name: string): Query<string | null> {
  return {
    name: 'rename_passkey',
    text: `with old as (select name from passkeys where user_id = $1 and credential_id = $2 for no key update)
      update passkeys set name = $3 from old where user_id = $1 and credential_id = $2 returning old.name as before`,
    values: [userId, credentialId, name],
    read: firstOrNull({ before: passkeys.name }, (row) => row.before),
  }
}

export function deletePasskey(userId: string, credentialId: string): Query<boolean> {
  return {
    name: 'delete_passkey',
    text: 'delete from passkeys where user_id = $1 and credential_id = $2',
    values: [userId, credentialId],
    read: changed,
  }
}

export function insertRecoveryCodes(userId: string, codeHashes: readonly Buffer[], createdAt: Date): Query<boolean> {
  return {
    name: 'insert_recovery_codes',
    text: 'insert into recovery_codes (user_id, code_hash, created_at) select $1, unnest($2::bytea[]), $3',
    values: [userId, codeHashes, createdAt],
    read: changed,
  }
}

export function deleteRecoveryCodes(userId: string): Query<boolean> {
  return {
    name: 'delete_recovery_codes',
    text: 'delete from recovery_codes where user_id = $1',
    values: [userId],
    read: changed,
  }
}

/**
 * Marks a recovery code as used, and returns its user. Returns null if it is unknown or used already. Uses the index
 * `recovery_codes_by_hash`.
 */
export function takeRecoveryCode(codeHash: Buffer, now: Date): Query<{ userId: string; userName: string } | null> {
  return {
    name: 'take_recovery_code',
    text: `update recovery_codes c set used_at = $2 from users u
      where c.code_hash = $1 and c.used_at is null and u.id = c.user_id returning c.user_id, u.name`,
    values: [codeHash, now],
    read: firstOrNull({ user_id: codes.user_id, name: users.name }, (row) => ({
      userId: row.user_id,
      userName: row.name,
    })),
  }
}

/** Counts the user's recovery codes that were not used yet. */
export function countUnusedCodes(userId: string): Query<number> {
  return {
    name: 'count_unused_recovery_codes',
    text: 'select count(*) as codes from recovery_codes where user_id = $1 and used_at is null',
    values: [userId],
    read: one({ codes: computed.int8 }, (row) => Number(row.codes)),
  }
}

function toPasskey(row: RowOf<typeof PASSKEY_ROW>): Passkey {
  return {
    userId: row.user_id,
    credentialId: row.credential_id,
    name: row.name,
    publicKeyCose: row.public_key_cose,
    counter: Number(row.counter),
    transports: row.transports,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }
}
