import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'

/**
 * Throws 403 `role_insufficient` if a user may not make keys. The membership must be read while the workspace's row is
 * locked, as it is while a member leaves. Otherwise a person who is removed at the same moment could get a new key,
 * after their keys were revoked (D88).
 */
export function checkMaker(actor: Actor, mayMake: boolean): void {
  if (actor.kind === 'user' && !mayMake) throw problem('role_insufficient')
}
