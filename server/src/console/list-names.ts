import type { Context } from '../domain/context.ts'
import { listRecipients } from '../domain/recipients/list-recipients.ts'
import { listWallets } from '../domain/wallets/queries.ts'
import type { Mode } from '../values/mode.ts'

/** Returns the names of a workspace's wallets and recipients, by their addresses. Both lists have at most 1,000 names. */
export async function listNames(
  ctx: Pick<Context, 'db'>,
  place: { readonly workspaceId: string; readonly mode: Mode },
): Promise<{ readonly wallets: ReadonlyMap<string, string>; readonly recipients: ReadonlyMap<string, string> }> {
  const [wallets, recipients] = await Promise.all([listWallets(ctx, place), listRecipients(ctx, place)])
  return {
    wallets: new Map(wallets.map(({ address, name }) => [address, name])),
    recipients: new Map(recipients.map(({ address, label }) => [address, label])),
  }
}
