import { isId } from '../../values/ids.ts'
import type { Context } from '../context.ts'
import type { Client } from './client.ts'
import { findClientRow } from './requests-store.ts'

/** A registered client, or null. A text that can't be an id is not looked up. */
export async function findClient(ctx: Pick<Context, 'db'>, { id }: { id: string }): Promise<Client | null> {
  return isId('client', id) ? await ctx.db.runRelaxed(findClientRow(id)) : null
}
