import { createId } from '../../values/ids.ts'
import type { Scope } from '../../values/scope.ts'
import type { Context } from '../context.ts'
import type { Client } from './client.ts'
import { insertClient } from './requests-store.ts'

/**
 * Registers a client under a new id (RFC 7591). The caller has already validated all values.
 *
 * Anybody may register a client, and audit log entries are kept for ever. So the registration is only logged when a
 * user first decides on a request of the client (`decideAuthorizationRequest`); a client that nobody uses leaves no
 * trace.
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
