import { getChain } from './context.ts'
import type { EnclaveContext } from './context.ts'
import { parseTransfer } from './prepare-send.ts'
import type { SendOrder } from './prepare-send.ts'
import type { WalletRecord } from './records.ts'
import { sendOperation } from './send-operation.ts'
import { sendSelfPaid } from './send-self-paid.ts'

/**
 * Makes a send: simulates the transfer, checks the policy, signs, and stores the signed data together with the
 * response. Only then does the enclave send it to the chain: as a user operation if the gas is sponsored, otherwise as
 * a transaction of the wallet itself. The enclave sends stored data again until it is mined, so nothing is lost if the
 * connection breaks.
 *
 * Throws 400 `transaction_broadcast_failure` if the simulation fails, the wallet has too little of the native coin, or
 * the chain rejects the transaction; then nothing is stored. Throws 400 `policy_violation` and 400 `invalid_data`.
 * Throws 503 if the chain is unreachable before anything was signed.
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
