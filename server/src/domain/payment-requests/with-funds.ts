import { ChainUnavailable } from '../../chain/errors.ts'
import type { Context } from '../context.ts'
import { settleWalletPayments } from '../payments/settle-wallet-payments.ts'
import { ensureLedgerCompared } from '../unexplained-transfers/compare-ledger.ts'
import type { PaymentRequest } from './payment-request.ts'
import type { Admission, FundedRequest } from './read-admission.ts'

type FundsContext = Pick<Context, 'db' | 'clock' | 'chains' | 'logger' | 'balances' | 'ledger'>
type Undecided = Extract<Admission, { readonly kind: 'balance_unknown' }>
/** A decision other than `Undecided` and `Refused`. */
type Decided = { readonly kind: 'reserved' | 'accepted' | 'existing' | 'allowed' }
type Refused = Extract<Admission, { readonly kind: 'refused' }>

/**
 * Reads the wallet's balances and calls `decide` with them. If the balance is too small, reads it again and repeats the
 * call, because the balance that we read earlier may not include a recent deposit or our own payments in recent blocks.
 * Payments and previews use this function, so they decide from the same balances (D26, D55). Throws `ChainUnavailable`
 * if every other check has passed and the chain cannot be read.
 */
export async function withFunds<Done extends Decided>(
  ctx: FundsContext,
  request: PaymentRequest,
  decide: (funded: FundedRequest) => Promise<Done | Refused | Undecided>,
): Promise<Done | Refused> {
  const first = await decideOnce(ctx, request, decide)
  if (first.kind !== 'refused' || first.refusal.code !== 'insufficient_balance') return first
  await settleWalletPayments(ctx, request)
  return await decideOnce(ctx, request, decide, 0)
}

async function decideOnce<Done extends Decided>(
  ctx: FundsContext,
  request: PaymentRequest,
  decide: (funded: FundedRequest) => Promise<Done | Refused | Undecided>,
  balanceAgeMsMax?: number,
): Promise<Done | Refused> {
  const chain = ctx.chains[request.mode]
  let unavailable: unknown
  const [balance, gas] = await Promise.all([
    ctx.balances.read(chain, request.wallet, balanceAgeMsMax),
    // The gas of a purchase is not paid by the wallet, but by the sender of the transaction with the authorization.
    chain.gas === 'self' && request.kind !== 'x402' ? chain.readGasFunds(request.wallet) : null,
    ensureLedgerCompared(ctx, request.mode),
  ]).catch((error: unknown) => {
    if (!(error instanceof ChainUnavailable)) throw error
    unavailable = error
    return [null, null] as const
  })
  const decision = await decide({ request, balance, gas })
  if (decision.kind === 'balance_unknown') throw unavailable
  return decision
}
