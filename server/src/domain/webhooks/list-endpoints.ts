import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { listEndpointRows } from './endpoints-store.ts'

/** The endpoints of an (account, mode), oldest first; without their secrets. */
export async function listEndpoints(
  ctx: Pick<Context, 'db'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<WebhookEndpoint[]> {
  return await ctx.db.runRelaxed(listEndpointRows(accountId, mode))
}
