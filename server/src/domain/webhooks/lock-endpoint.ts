import type { Transaction } from '../../db/transaction.ts'
import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { lockEndpointRow } from './endpoints-store.ts'

/** The endpoint, as it stays until the transaction ends; or 404 `webhook_not_found`. */
export async function lockEndpoint(
  transaction: Transaction,
  { accountId, id }: { accountId: string; id: string },
): Promise<WebhookEndpoint> {
  const endpoint = isId('endpoint', id) ? await transaction.run(lockEndpointRow(accountId, id)) : null
  if (endpoint === null) throw problem('webhook_not_found')
  return endpoint
}

/** As `lockEndpoint`; or 409 `endpoint_disabled`: nothing more can be sent there for now. */
export async function lockEnabledEndpoint(
  transaction: Transaction,
  subject: { accountId: string; id: string },
): Promise<WebhookEndpoint> {
  const endpoint = await lockEndpoint(transaction, subject)
  if (endpoint.disabledAt !== null) throw problem('endpoint_disabled')
  return endpoint
}
