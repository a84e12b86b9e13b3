import { isId } from '../../values/ids.ts'
import { hashSecret } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import type { ApiKey } from './api-key.ts'
import { findKeyByHash, findKeyById } from './keys-store.ts'

/** A key by what its holder has, or by what its workspace calls it. */
export type KeyReference = { readonly secret: string } | { readonly accountId: string; readonly id: string }

/** Usable or not. */
export async function findKey(ctx: Pick<Context, 'db'>, reference: KeyReference): Promise<ApiKey | null> {
  if ('secret' in reference) return await ctx.db.runRelaxed(findKeyByHash(hashSecret(reference.secret)))
  const { accountId, id } = reference
  return isId('key', id) ? await ctx.db.runRelaxed(findKeyById(accountId, id)) : null
}
