import type { Context } from '../../context.ts'
import type { Credential } from './credential.ts'
import { listCredentials } from './credentials-store.ts'

/** What asked for these payments or refusals, by its id. Those that do not say are left out. */
export async function findCredentials(
  ctx: Pick<Context, 'db'>,
  { accountId, asked }: { accountId: string; asked: readonly { readonly credentialId: string | null }[] },
): Promise<ReadonlyMap<string, Credential>> {
  const ids = [...new Set(asked.flatMap(({ credentialId }) => (credentialId === null ? [] : [credentialId])))]
  if (ids.length === 0) return new Map()
  const found = await ctx.db.runRelaxed(listCredentials(accountId, ids))
  return new Map(found.map((credential) => [credential.id, credential]))
}
