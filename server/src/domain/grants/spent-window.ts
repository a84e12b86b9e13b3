/** The length of the rolling window of the 24-hour limit (D16). */
export const CAP_WINDOW_MS = 24 * 60 * 60 * 1_000

/** Returns the start of the 24-hour window that ends now. A payment made exactly at the start is outside the window. */
export function windowStart(now: Date): Date {
  return new Date(now.getTime() - CAP_WINDOW_MS)
}

/** The SQL expressions for a workspace, a mode, a wallet, an agent, and the start of the 24-hour window. */
export interface SpentTerms {
  readonly workspace: string
  readonly mode: string
  readonly wallet: string
  readonly agent: string
  readonly since: string
}

/** The SQL expressions for a grant `g`, without the start of the window. */
export const TERMS_OF_GRANT = {
  workspace: 'g.workspace_id',
  mode: 'g.mode',
  wallet: 'g.wallet_address',
  agent: 'g.agent_id',
} as const

/**
 * Returns an SQL expression for what an agent spent from a wallet since a time. Failed payments do not count. Transfers
 * that no payment explains count for every agent of the wallet (D96). Uses the index `payments_in_window`, because the
 * subquery asks for the index's order. Without this order, the planner may choose an index of all payments of the
 * agent, the wallet or the workspace, if it expects about one row from each index (decision 0038). Uses the index
 * `unexplained_transfers_of_wallet`, which is nearly always empty, for the same reason.
 */
export function spentSum({ workspace, mode, wallet, agent, since }: SpentTerms): string {
  return `(select coalesce(sum(s.amount_micro), 0) from (
      (select p.amount_micro from payments p
      where p.workspace_id = ${workspace} and p.mode = ${mode} and p.wallet_address = ${wallet} and p.agent_id = ${agent}
        and p.created_at > ${since} and p.status <> 'failed'
      order by p.created_at offset 0)
      union all
      (select u.amount_micro from unexplained_transfers u
      where u.workspace_id = ${workspace} and u.mode = ${mode} and u.wallet_address = ${wallet} and u.mined_at > ${since}
        and u.payment_id is null
      order by u.mined_at offset 0)) s)`
}
