import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { hashSecret } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { HELD_KEYS_LISTED_MAX, KEYS_LISTED_MAX, type ApiKey, type KeySummary } from './api-key.ts'
import { findKeySummary, listHeldKeySummaries, listKeysMadeBy, listKeySummaries } from './key-summaries-store.ts'
import { findKeyByHash, findKeyById } from './keys-store.ts'

/** Identifies a key by its secret, or by its id in its workspace. */
export type KeyReference = { readonly secret: string } | { readonly workspaceId: string; readonly id: string }

/** Returns the key, even if it no longer works. Returns null if there is no such key. */
export async function findKey(ctx: Pick<Context, 'db'>, reference: KeyReference): Promise<ApiKey | null> {
  if ('secret' in reference) return await ctx.db.read(findKeyByHash(hashSecret(reference.secret)))
  const { workspaceId, id } = reference
  return isId('key', id) ? await ctx.db.read(findKeyById(workspaceId, id)) : null
}

/** Returns a key of the workspace, even if it no longer works. Throws 404 `key_not_found` if there is no such key. */
export async function getKey(
  ctx: Pick<Context, 'db'>,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<KeySummary> {
  const key = isId('key', id) ? await ctx.db.read(findKeySummary(workspaceId, id)) : null
  if (key === null) throw problem('key_not_found')
  return key
}

/**
 * Lists at most 100 keys of the workspace and mode: first the keys that work, then those that no longer work. Each
 * group is sorted newest first.
 */
export async function listKeys(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
): Promise<KeySummary[]> {
  return await ctx.db.readSlow(listKeySummaries(workspaceId, mode, ctx.clock.now(), KEYS_LISTED_MAX), workspaceId)
}

/**
 * Lists the keys of both modes that a person made and that still work, oldest first. These keys are revoked when the
 * person leaves the workspace or becomes a viewer, unless they are kept (D88).
 */
export async function listKeysOfMaker(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<KeySummary[]> {
  return await ctx.db.read(listKeysMadeBy({ workspaceId, userId }, ctx.clock.now()))
}

/**
 * Lists the keys of both modes that are held after a restore, and still wait for an owner to confirm them (D96a), oldest
 * first. At most 500; the others are listed when an owner has decided on these.
 */
export async function listHeldKeys(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId }: { workspaceId: string },
): Promise<KeySummary[]> {
  return await ctx.db.read(listHeldKeySummaries(workspaceId, ctx.clock.now(), HELD_KEYS_LISTED_MAX))
}
