import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import { problem } from '../../../values/problem.ts'
import type { Context } from '../../context.ts'
import type { Query } from '../../../db/query.ts'
import { grantState } from '../../grants/grant-state.ts'
import { SAVED_RECIPIENTS_MAX } from '../../recipients/recipient.ts'
import { listRecipientRows } from '../../recipients/recipients-store.ts'
import { readBalances } from '../../wallets/read-balances.ts'
import { takePage, type GrantBudget, type WalletBudget } from './wallet-budget.ts'
import { findWalletRow, listWalletRows, type GrantRow, type WalletRow } from './wallet-budgets-store.ts'

/** A balance that is at most this old is not read again: a list has up to 100 balances, and callers may poll lists. */
const BALANCE_AGE_MS_MAX = 15_000
/** How long a response waits for the chain to return balances. */
const BALANCE_WAIT_MS_MAX = 2_000

type BudgetContext = Pick<Context, 'db' | 'clock' | 'chains' | 'balances' | 'logger'>

/** Whose wallets are read, and how long to wait for the chain. */
interface BudgetRequest {
  readonly workspaceId: string
  readonly mode: Mode
  /**
   * The agent to which the caller's credential is bound. Such a caller sees the wallets on which this agent has a
   * signed grant that is not revoked, and on these wallets only this agent's grants. Null if the caller is not bound.
   */
  readonly boundAgentId: string | null
  /** By default `BALANCE_WAIT_MS_MAX`. */
  readonly balanceWaitMsMax?: number
}

export interface WalletPage {
  readonly wallets: readonly WalletBudget[]
  readonly hasMore: boolean
}

/**
 * Lists wallets with what agents may spend from them (D54), in the order of their addresses, after the address
 * `startingAfter`. Lists at most `limit` wallets; `limit` is at most `WALLETS_PAGE_MAX`. The comment of `takePage`
 * explains when a page is shorter. If the chain cannot be reached in time, the balances that were not read are null.
 */
export async function listWalletBudgets(
  ctx: BudgetContext,
  {
    startingAfter,
    limit,
    ...request
  }: BudgetRequest & { readonly startingAfter: Address | null; readonly limit: number },
): Promise<WalletPage> {
  // Reads one wallet more than the page holds, to know whether there is a next page.
  const query = listWalletRows(placeOf(ctx, request), { after: startingAfter, limit: limit + 1 })
  return await readBudgets(ctx, request, query, limit)
}

/** Returns one wallet with what agents may spend from it (D54). Errors: 404 `wallet_not_found`. */
export async function getWalletBudget(
  ctx: BudgetContext,
  { address, ...request }: BudgetRequest & { readonly address: Address },
): Promise<WalletBudget> {
  const { wallets } = await readBudgets(ctx, request, findWalletRow(placeOf(ctx, request), address), 1)
  const [wallet] = wallets
  if (wallet === undefined) throw problem('wallet_not_found')
  return wallet
}

/** Checks that the caller can see a wallet. Its balance is not read. Errors: 404 `wallet_not_found`. */
export async function checkWalletVisible(
  ctx: Pick<Context, 'db' | 'clock'>,
  { address, ...request }: BudgetRequest & { readonly address: Address },
): Promise<void> {
  const rows = await ctx.db.readSlow(findWalletRow(placeOf(ctx, request), address), request.workspaceId)
  if (rows.length === 0) throw problem('wallet_not_found')
}

function placeOf({ clock }: Pick<Context, 'clock'>, { workspaceId, mode, boundAgentId }: BudgetRequest) {
  return { workspaceId, mode, agentId: boundAgentId, now: clock.now() }
}

/** Runs the query, and adds the balances and the recipients' labels to the wallets of the page. */
async function readBudgets(
  ctx: BudgetContext,
  { workspaceId, mode, balanceWaitMsMax: waitMsMax = BALANCE_WAIT_MS_MAX }: BudgetRequest,
  query: Query<WalletRow[]>,
  limit: number,
): Promise<WalletPage> {
  const labelQuery = listRecipientRows(workspaceId, mode, SAVED_RECIPIENTS_MAX)
  const [rows, recipients] = await ctx.db.readSlow([query, labelQuery] as const, workspaceId)
  const labels = new Map(recipients.map(({ address, label }) => [address, label]))
  const page = takePage(rows, limit)
  const addresses = page.map(({ address }) => address)
  const balances = await readBalances(ctx, { mode, addresses, ageMsMax: BALANCE_AGE_MS_MAX, waitMsMax })
  const now = ctx.clock.now()
  const wallets = page.map((row) => ({
    address: row.address,
    name: row.name,
    mode,
    balanceMicro: balances.get(row.address) ?? null,
    grants: row.grants.map((grant) => toGrantBudget(grant, { labels, now })),
  }))
  return { wallets, hasMore: rows.length > page.length }
}

function toGrantBudget(
  { status, suspendedAt, recipientAllowlist, ...grant }: GrantRow,
  { labels, now }: { readonly labels: ReadonlyMap<Address, string>; readonly now: Date },
): GrantBudget {
  const state = grantState({ status, suspendedAt, expiresAt: grant.expiresAt, replacedBy: null }, now)
  if (state === 'revoked' || state === 'replaced') throw new Error(`the grant ${grant.id} is revoked, but was listed`)
  return {
    ...grant,
    state,
    recipients: recipientAllowlist.map((address) => ({ address, label: labels.get(address) ?? null })),
  }
}
