import { formatQuery, positionAfter, readPages } from './pages.ts'
import { withMembers } from './read-body.ts'
import { createResult, type Result } from './result.ts'
import { send, type CallOptions, type Connection } from './send.ts'
import type { ListWalletsParams, Wallet, WalletPage } from './types.ts'

/** The wallets that the credential may see. Use `bursar.wallets`. */
export class Wallets {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Lists wallets in the order of their addresses, each with its balance (decimal USDC, or null if the chain did not
   * respond) and with what agents may spend from it. Reads page after page; `limit` is the size of a page.
   *
   * @example
   * ```ts
   * for await (const wallet of bursar.wallets.list()) log(wallet.name, wallet.balance_usdc)
   * ```
   */
  list(params: ListWalletsParams = {}, options?: CallOptions): AsyncGenerator<Wallet, void, undefined> {
    return readPages(params.starting_after, async (position) => {
      const path = `/v1/wallets${formatQuery({ ...params, starting_after: position })}`
      const read = withMembers<WalletPage>({ wallets: 'array', has_more: 'boolean' })
      const { data } = await send(this.#connection, { method: 'GET', path, read }, options)
      return { items: data.wallets, next: positionAfter(data.has_more, data.wallets.at(-1)?.address) }
    })
  }

  /**
   * Returns a wallet.
   *
   * Errors: `NotFoundError` if the credential sees no wallet with this address.
   *
   * @example
   * ```ts
   * const wallet = await bursar.wallets.get('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
   * for (const grant of wallet.grants) log(grant.agent_id, grant.remaining_24h_usdc)
   * ```
   */
  get(address: string, options?: CallOptions): Result<Wallet> {
    const read = withMembers<{ wallet: Wallet }>({ wallet: 'object' })
    const path = `/v1/wallets/${encodeURIComponent(address)}`
    return createResult(send(this.#connection, { method: 'GET', path, read }, options), ({ wallet }) => wallet)
  }
}
