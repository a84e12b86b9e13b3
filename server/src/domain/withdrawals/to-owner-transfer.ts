import type { OwnerTransfer } from '../../enclave/enclave.ts'
import type { Context } from '../context.ts'
import { attemptKey } from '../payments/attempt-key.ts'
import type { WithdrawalRequest } from '../owners/withdrawal-request.ts'
import type { Wallet } from '../wallets/wallet.ts'

/** A withdrawal is sent only once: the service never uses an owner's signature a second time. */
const ONLY_ATTEMPT = 1

/** Builds the transfer that the owner signs. The same request always gives the same transfer, byte for byte. */
export function toOwnerTransfer(
  { chains }: Pick<Context, 'chains'>,
  { wallet, request }: { wallet: Wallet; request: WithdrawalRequest },
): OwnerTransfer {
  const { workspaceId, mode, paymentId } = request
  const { chainId, usdc } = chains[mode]
  return {
    enclaveWalletId: wallet.enclaveWalletId,
    chainId,
    contract: usdc,
    from: wallet.address,
    to: request.to,
    amountMicro: request.amountMicro,
    sponsored: request.sponsored,
    referenceId: paymentId,
    attemptKey: attemptKey({ workspaceId, mode, id: paymentId, idempotencyKey: null, attempt: ONLY_ATTEMPT }),
    expiresAt: request.requestExpiresAt,
  }
}
