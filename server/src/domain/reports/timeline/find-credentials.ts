import type { Context } from '../../context.ts'
import type { Credential } from './credential.ts'
import { listPaymentCredentials } from './credentials-store.ts'

/**
 * Returns the API keys and OAuth connections that made these requests, as a map from id to credential. Requests without
 * a recorded credential are left out.
 */
export async function findCredentials(
  ctx: Pick<Context, 'db'>,
  { workspaceId, requests }: { workspaceId: string; requests: readonly { readonly credentialId: string | null }[] },
): Promise<ReadonlyMap<string, Credential>> {
  const ids = [...new Set(requests.flatMap(({ credentialId }) => (credentialId === null ? [] : [credentialId])))]
  if (ids.length === 0) return new Map()
  const found = await ctx.db.read(listPaymentCredentials(workspaceId, ids))
  return new Map(found.map((credential) => [credential.id, credential]))
}
