import { createId } from '../../values/ids.ts'
import type { Scope } from '../../values/scope.ts'
import type { Context } from '../context.ts'
import type { Client } from './client.ts'
import { insertClient } from './requests-store.ts'

/**
 * Registers a client under a new id (RFC 7591). The caller has already validated all values.
 *
 * Anybody may register a client, and audit log entries are kept forever. So the registration is not logged until a user
 * first decides on a request of the client (`decideAuthorizationRequest`). A client that nobody uses leaves no entry in
 * the log.
 */
export async function registerClient(
  ctx: Pick<Context, 'db' | 'clock'>,
  { name, redirectUris, scopes }: { name: string; redirectUris: readonly string[]; scopes: readonly Scope[] },
): Promise<Client> {
  const createdAt = ctx.clock.now()
  const client: Client = {
    id: createId('client', createdAt),
    kind: 'registered',
    name,
    redirectUris,
    scopes,
    createdAt,
    lastUsedAt: null,
    fetchedAt: null,
    freshUntil: null,
  }
  await ctx.db.write(insertClient(client))
  return client
}
