import { problem } from '../../values/problem.ts'
import { parseApiKeySecret } from '../../values/api-key.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { MOVING_RETRY_AFTER_SECONDS } from './move.ts'
import { findMoveOfCredential, findMoveOfMember, type Departure } from './moves-store.ts'

/**
 * Is called for a credential or invitation that this cell does not know. Throws 421 `workspace_moved` if its workspace
 * was moved to another cell, and 503 `workspace_moving` if it was taken out and has not arrived yet.
 */
export async function checkMoved(ctx: Pick<Context, 'db'>, credential: string): Promise<void> {
  if (!isCredential(credential)) return
  rejectDeparted(await ctx.db.read(findMoveOfCredential(hashSecret(credential))))
}

/** Does the same for the slug of a workspace of which the user is no member. Throws only if they were a member. */
export async function checkMemberMoved(
  ctx: Pick<Context, 'db'>,
  { userId, slug }: { userId: string; slug: string },
): Promise<void> {
  rejectDeparted(await ctx.db.read(findMoveOfMember(userId, slug)))
}

/** The 503 for a workspace that is being moved to another cell. */
export function workspaceMoving() {
  return problem('workspace_moving', { retryAfterSeconds: MOVING_RETRY_AFTER_SECONDS })
}

function rejectDeparted(departure: Departure | null): void {
  if (departure === null) return
  if (departure.state === 'taken_out') throw workspaceMoving()
  throw problem('workspace_moved', { details: { cell: departure.cell } })
}

/** Returns whether the text has the form of a credential that moves with its workspace. */
function isCredential(text: string): boolean {
  const { accessToken, refreshToken, authorizationCode, invitation } = SECRET_PREFIXES
  if ([accessToken, refreshToken, authorizationCode, invitation].some((prefix) => isSecret(prefix, text))) return true
  return parseApiKeySecret(text) !== null
}
