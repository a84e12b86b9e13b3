import { ChainUnavailable } from '../../chain/errors.ts'
import { EnclaveOutOfReach } from '../../enclave/errors.ts'
import type { Context } from '../context.ts'
import { ensureLedgerCompared } from '../unexplained-transfers/compare-ledger.ts'
import type { PayerFunds } from './decide-admission.ts'
import type { PaymentRequest } from './payment-request.ts'

/**
 * Reads what the wallet of a request has. Payments and previews use this function, so they decide from the same
 * balances (D26, D55). The balance may have been read up to `balanceAgeMsMax` ago. If the chain cannot be read
 * or the enclave is out of reach, the result contains the error: it matters only if every other check passes.
 */
export async function readPayerFunds(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger' | 'balances' | 'ledger' | 'enclave'>,
  { mode, wallet, kind }: Pick<PaymentRequest, 'mode' | 'wallet' | 'kind'>,
  balanceAgeMsMax?: number,
): Promise<PayerFunds> {
  const chain = ctx.chains[mode]
  try {
    const [balance, gas] = await Promise.all([
      ctx.balances.read(chain, wallet, balanceAgeMsMax),
      // The gas of a purchase is not paid by the wallet, but by the sender of the transaction with the authorization.
      chain.gas === 'self' && kind !== 'x402' ? chain.readGasFunds(wallet) : null,
      ensureLedgerCompared(ctx, mode),
      ctx.enclave.requireInReach(),
    ])
    return { balance, gas }
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof EnclaveOutOfReach)) throw error
    return { balance: error, gas: null }
  }
}
