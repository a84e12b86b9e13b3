import { createId } from '../../values/ids.ts'
import type { Scope } from '../../values/scope.ts'
import type { Context } from '../context.ts'
import type { Client } from './client.ts'
import { insertClient } from './requests-store.ts'

/**
 * Registers a client under an id of its own, whatever was registered before (RFC 7591). The door has parsed it all. Anybody
 * may do so, and what is in the audit log stays there for ever: it is told there when somebody first decides on a request
 * of the client (`decideAuthorizationRequest`), and a client on which nobody does leaves nothing behind.
 */
export async function registerClient(
  ctx: Pick<Context, 'db' | 'clock'>,
  { name, redirectUris, scopes }: { name: string; redirectUris: readonly string[]; scopes: readonly Scope[] },
): Promise<Client> {
  const createdAt = ctx.clock.now()
  const client: Client = {
    id: createId('client', createdAt),
    name,
    redirectUris,
    scopes,
    createdAt,
    lastUsedAt: null,
  }
  await ctx.db.runDurable(insertClient(client))
  return client
}
