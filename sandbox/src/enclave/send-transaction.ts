import { getChain } from './context.ts'
import type { EnclaveContext } from './context.ts'
import { parseTransfer } from './prepare-send.ts'
import type { SendOrder } from './prepare-send.ts'
import type { WalletRecord } from './records.ts'
import { sendOperation } from './send-operation.ts'
import { sendSelfPaid } from './send-self-paid.ts'

/**
 * Simulates, checks the policy, signs, writes what was signed down together with its answer, and only then sends it: as a
 * user operation when the gas is sponsored, else as a transaction of the wallet's own.
 * From the moment of writing it will be sent until it is mined; so an answer lost on the way loses nothing.
 * Throws 400 `transaction_broadcast_failure` when the simulation fails, the wallet has too little coin, or the chain refuses
 * it (nothing is kept then), 400 `policy_violation`, 400 `invalid_data`, and 503 when the chain is out of reach before
 * anything was signed.
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
