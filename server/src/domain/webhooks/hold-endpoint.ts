import type { Transaction } from '../../db/transaction.ts'
import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { lockEndpoint } from './store.ts'

/** The endpoint, as it stays until the transaction ends; or 404 `webhook_not_found`. */
export async function holdEndpoint(
  transaction: Transaction,
  { accountId, id }: { accountId: string; id: string },
): Promise<WebhookEndpoint> {
  const endpoint = isId('endpoint', id) ? await transaction.run(lockEndpoint(accountId, id)) : null
  if (endpoint === null) throw problem('webhook_not_found')
  return endpoint
}

/** As `holdEndpoint`; or 409 `endpoint_disabled`: nothing more can be sent there for now. */
export async function holdEnabledEndpoint(
  transaction: Transaction,
  subject: { accountId: string; id: string },
): Promise<WebhookEndpoint> {
  const endpoint = await holdEndpoint(transaction, subject)
  if (endpoint.disabledAt !== null) throw problem('endpoint_disabled')
  return endpoint
}
