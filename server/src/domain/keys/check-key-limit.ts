import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { KEYS_MAX } from './api-key.ts'

/**
 * Throws 409 `key_limit_reached` if the workspace has reached its limit of keys. The limit does not apply to the
 * operator.
 */
export function checkKeyLimit(actor: Actor, usableKeys: number): void {
  if (actor.kind === 'operator' || usableKeys < KEYS_MAX) return
  throw problem('key_limit_reached', { details: { keys_max: KEYS_MAX } })
}
