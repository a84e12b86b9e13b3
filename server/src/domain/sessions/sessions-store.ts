import { computed, pick, type RowOf } from '../../db/column.ts'
import { all, changed, countChanged, firstOrNull, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Session } from './session.ts'

const { sessions, users } = tables

const SESSION_ROW = {
  ...pick(sessions, 'secret_hash', 'user_id', 'created_at', 'last_seen_at', 'expires_at', 'verified_at', 'device'),
  user_name: users.name,
}

const SESSIONS = `select s.secret_hash, s.user_id, s.created_at, s.last_seen_at, s.expires_at, s.verified_at, s.device,
    u.name as user_name
  from sessions s join users u on u.id = s.user_id`

export function insertSession(session: Session): Query<boolean> {
  return {
    name: 'insert_session',
    text: `insert into sessions (secret_hash, user_id, created_at, last_seen_at, expires_at, verified_at, device)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      session.secretHash,
      session.userId,
      session.createdAt,
      session.lastSeenAt,
      session.expiresAt,
      session.verifiedAt,
      session.device,
    ],
    read: changed,
  }
}

/** Uses the primary keys. */
export function findSessionRow(secretHash: Buffer): Query<Session | null> {
  return {
    name: 'find_session',
    text: `${SESSIONS} where s.secret_hash = $1`,
    values: [secretHash],
    read: firstOrNull(SESSION_ROW, toSession),
  }
}

/** Lists a user's sessions, including ended ones, the most recently used first. Uses the index `sessions_by_user`. */
export function listSessionRows(userId: string): Query<Session[]> {
  return {
    name: 'list_sessions',
    text: `${SESSIONS}
      where s.user_id = $1 order by s.last_seen_at desc, s.secret_hash`,
    values: [userId],
    read: all(SESSION_ROW, toSession),
  }
}

export function touchSession(secretHash: Buffer, now: Date): Query<boolean> {
  return {
    name: 'touch_session',
    text: 'update sessions set last_seen_at = $2 where secret_hash = $1 and last_seen_at < $2',
    values: [secretHash, now],
    read: changed,
  }
}

/** Replaces a session's secret and records a proof of presence. Returns false if the session has ended meanwhile. */
export function renewSession(secretHash: Buffer, newHash: Buffer, now: Date): Query<boolean> {
  return {
    name: 'renew_session',
    text: `update sessions set secret_hash = $2, verified_at = $3, last_seen_at = $3
      where secret_hash = $1 and expires_at > $3`,
    values: [secretHash, newHash, now],
    read: changed,
  }
}

export function deleteSession(secretHash: Buffer): Query<boolean> {
  return {
    name: 'delete_session',
    text: 'delete from sessions where secret_hash = $1',
    values: [secretHash],
    read: changed,
  }
}

/**
 * Ends all sessions of a user except the one with `secretHash`. Returns how many of them were active until now. Uses
 * the index `sessions_by_user`.
 */
export function deleteOtherSessions(userId: string, secretHash: Buffer, now: Date, idleSince: Date): Query<number> {
  return {
    name: 'delete_other_sessions',
    text: `delete from sessions where user_id = $1 and secret_hash <> $2
      returning expires_at > $3 and last_seen_at > $4 as alive`,
    values: [userId, secretHash, now, idleSince],
    read: rowsOf({ alive: computed.bool }, (rows) => rows.filter(({ alive }) => alive).length),
  }
}

/** Ends a user's oldest sessions, so that at most `sessionsMax` are left. Uses the index `sessions_by_user`. */
export function deleteOldestSessions(userId: string, sessionsMax: number): Query<number> {
  return {
    name: 'delete_oldest_sessions',
    text: `delete from sessions where secret_hash in (
        select secret_hash from sessions where user_id = $1 order by created_at desc, secret_hash offset $2)`,
    values: [userId, sessionsMax],
    read: countChanged,
  }
}

/**
 * Ends sessions of all users, at most `rowsMax`, active or not. For each user whose sessions were ended, returns how
 * many, and whether the user has ever belonged to a workspace. Uses the index `sessions_by_end`.
 */
export function deleteAnySessions(
  rowsMax: number,
): Query<{ readonly userId: string; readonly sessions: number; readonly hasJoined: boolean }[]> {
  return {
    name: 'delete_any_sessions',
    text: `with ended as (
        delete from sessions where secret_hash in (select secret_hash from sessions order by expires_at limit $1)
        returning user_id
      )
      select e.user_id, count(*) as sessions, u.joined_at is not null as has_joined
      from ended e join users u on u.id = e.user_id group by e.user_id, u.joined_at`,
    values: [rowsMax],
    read: all({ user_id: sessions.user_id, sessions: computed.int8, has_joined: computed.bool }, (row) => ({
      userId: row.user_id,
      sessions: Number(row.sessions),
      hasJoined: row.has_joined,
    })),
  }
}

/** Uses the index `sessions_by_end`. */
export function deleteEndedSessions(now: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_sessions',
    text: `delete from sessions where secret_hash in (
        select secret_hash from sessions where expires_at <= $1 order by expires_at limit $2 for update skip locked)`,
    values: [now, rowsMax],
    read: countChanged,
  }
}

function toSession(row: RowOf<typeof SESSION_ROW>): Session {
  return {
    secretHash: row.secret_hash,
    userId: row.user_id,
    userName: row.user_name,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
    verifiedAt: row.verified_at,
    device: row.device,
  }
}
