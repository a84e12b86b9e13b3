import { problem } from '../../values/problem.ts'
import { parseApiKeySecret } from '../../values/api-key.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { MOVING_RETRY_AFTER_SECONDS } from './move.ts'
import { findMoveOfCredential } from './moves-store.ts'

/**
 * Is called for a credential that this cell does not know. Throws 421 `workspace_moved` if its workspace was moved to
 * another cell, and 503 `workspace_moving` if it was taken out and has not arrived yet.
 */
export async function checkMoved(ctx: Pick<Context, 'db'>, credential: string): Promise<void> {
  if (!isCredential(credential)) return
  const move = await ctx.db.read(findMoveOfCredential(hashSecret(credential)))
  if (move === null) return
  if (move.state === 'taken_out') throw workspaceMoving()
  throw problem('workspace_moved', { details: { cell: move.cell } })
}

/** The 503 for a workspace that is being moved to another cell. */
export function workspaceMoving() {
  return problem('workspace_moving', { retryAfterSeconds: MOVING_RETRY_AFTER_SECONDS })
}

/** Returns whether the text has the form of a credential that moves with its workspace. */
function isCredential(text: string): boolean {
  const { accessToken, refreshToken, authorizationCode } = SECRET_PREFIXES
  if ([accessToken, refreshToken, authorizationCode].some((prefix) => isSecret(prefix, text))) return true
  return parseApiKeySecret(text) !== null
}
