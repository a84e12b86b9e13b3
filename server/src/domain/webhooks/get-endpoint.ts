import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { findEndpoint } from './endpoints-store.ts'

/** An endpoint of the account, without its secret, or 404 `webhook_not_found`. */
export async function getEndpoint(
  ctx: Pick<Context, 'db'>,
  { accountId, id }: { accountId: string; id: string },
): Promise<WebhookEndpoint> {
  const endpoint = isId('endpoint', id) ? await ctx.db.runRelaxed(findEndpoint(accountId, id)) : null
  if (endpoint === null) throw problem('webhook_not_found')
  return endpoint
}
