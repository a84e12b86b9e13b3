import type { Transaction } from '../../db/transaction.ts'
import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { lockEndpointRow } from './endpoints-store.ts'

/** Returns the endpoint and locks it until the transaction ends, or throws 404 `webhook_not_found`. */
export async function lockEndpoint(
  transaction: Transaction,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<WebhookEndpoint> {
  const endpoint = isId('endpoint', id) ? await transaction.run(lockEndpointRow(workspaceId, id)) : null
  if (endpoint === null) throw problem('webhook_not_found')
  return endpoint
}

/**
 * Does the same as `lockEndpoint`, but throws 409 `endpoint_disabled` if the endpoint is disabled, because nothing can
 * be sent to a disabled endpoint.
 */
export async function lockEnabledEndpoint(
  transaction: Transaction,
  subject: { workspaceId: string; id: string },
): Promise<WebhookEndpoint> {
  const endpoint = await lockEndpoint(transaction, subject)
  if (endpoint.disabledAt !== null) throw problem('endpoint_disabled')
  return endpoint
}
