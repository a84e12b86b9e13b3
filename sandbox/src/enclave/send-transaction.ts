import { getChain } from './context.ts'
import type { EnclaveContext } from './context.ts'
import { parseTransfer } from './prepare-send.ts'
import type { SendOrder } from './prepare-send.ts'
import type { WalletRecord } from './records.ts'
import { sendOperation } from './send-operation.ts'
import { sendSelfPaid } from './send-self-paid.ts'

/**
 * Simulates, checks the policy, signs, stores what was signed together with the response, and only then sends it: as a
 * user operation if the gas is sponsored, otherwise as a transaction of the wallet itself. Once stored, it is sent
 * until it is mined, so losing the response on the way loses nothing.
 *
 * Throws 400 `transaction_broadcast_failure` if the simulation fails, the wallet has too little coin, or the chain
 * rejects it (nothing is stored then), 400 `policy_violation`, 400 `invalid_data`, and 503 if the chain is unreachable
 * before anything was signed.
 */
export async function sendTransaction(
  context: EnclaveContext,
  wallet: WalletRecord,
  order: SendOrder,
): Promise<unknown> {
  const chain = getChain(context, order.body.caip2)
  const transfer = parseTransfer(wallet, order.body)
  const send = order.body.sponsor === true ? sendOperation : sendSelfPaid
  return await send(context, { chain, wallet, transfer, order })
}
