import { createId } from '../../values/ids.ts'
import type { Scope } from '../../values/scope.ts'
import { insertAuditEntry } from '../audit/store.ts'
import type { Context } from '../context.ts'
import type { Client } from './client.ts'
import { insertClient } from './requests/store.ts'

/** Registers a client under an id of its own, whatever was registered before (RFC 7591). The door has parsed it all. */
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
  await ctx.db.transaction((transaction) =>
    transaction.commit([
      insertClient(client),
      insertAuditEntry({
        logId: client.id,
        createdAt,
        actor: { kind: 'client', id: client.id },
        action: 'client.registered',
        subject: client.id,
        details: { redirect_uris: redirectUris.length },
      }),
    ]),
  )
  return client
}
