import { randomBytes } from 'node:crypto'
import { bytesToBigInt } from 'viem/utils'
import type { Hex } from 'viem'
import { sign } from 'viem/accounts'
import type { ChainNode } from './chain-node.ts'
import type { EnclaveContext } from './context.ts'
import type { StatusFault } from './faults.ts'
import { measureCallGas } from './measure-gas-limit.ts'
import type { Pace } from './pace.ts'
import { checkPolicy, formatAnswer, recordSend, simulate } from './prepare-send.ts'
import type { SendOrder, Transfer } from './prepare-send.ts'
import type { TransactionRecord, WalletRecord } from './records.ts'
import { createResourceId } from './resource-id.ts'
import { formatOperation, hashOperation } from './user-operation.ts'

const NONCE_KEY_BYTES = 24
const LATE_FAULTS: readonly StatusFault[] = [
  'failed_lands_later',
  'provider_error_lands',
  'replaced',
  'replaced_old_hash',
]

export interface Send {
  readonly chain: ChainNode
  readonly wallet: WalletRecord
  readonly transfer: Transfer
  readonly order: SendOrder
}

/** Makes a sponsored send: signs a user operation, which the bundler sends to the chain later. */
export async function sendOperation(context: EnclaveContext, send: Send): Promise<unknown> {
  const { chain, wallet, transfer, order } = send
  context.references.check(order.body.reference_id)
  const gasEstimated = await simulate(chain, wallet.address, transfer)
  checkPolicy(context, order.party, transfer)
  order.checkExpiry()
  const tx = await signOperation(context, send, gasEstimated)
  const answer = formatAnswer(tx)
  recordSend(context, tx, () => order.keep(answer))
  context.wakeups.get(tx.caip2)?.wake()
  return answer
}

async function signOperation(
  { store, vault, clock, faults, pace }: EnclaveContext,
  { wallet, transfer, order: { body, fault } }: Send,
  gasEstimated: bigint,
): Promise<TransactionRecord> {
  const failing = fault === 'reverted_without_hash' || faults.takeFailingTransfer(body.caip2)
  const unsigned = formatOperation({
    sender: wallet.address,
    key: bytesToBigInt(randomBytes(NONCE_KEY_BYTES)),
    call: transfer,
    callGas: measureCallGas({ gasEstimated, failing }),
  })
  const hash = hashOperation(unsigned, transfer.chainId)
  const signature: Hex = await sign({
    hash,
    privateKey: vault.open(wallet.id, store.getSealedKey(wallet.id)),
    to: 'hex',
  })
  const shownAt = Date.now() + pace.drawPendingMs()
  return {
    id: createResourceId(),
    walletId: wallet.id,
    caip2: body.caip2,
    hash: null,
    userOperationHash: hash,
    operation: { ...unsigned, signature },
    referenceId: body.reference_id ?? null,
    status: 'pending',
    createdAt: clock.nowMs(),
    shownAt,
    dueAt: findDueAt(fault, shownAt, pace),
    fault,
  }
}

/** Returns the time when the operation is bundled, or null if it never is. */
function findDueAt(fault: StatusFault | null, shownAt: number, pace: Pace): number | null {
  if (fault === 'failed_never_lands' || fault === 'provider_error') return null
  const isLate = fault !== null && LATE_FAULTS.includes(fault)
  return isLate ? shownAt + pace.laterMs() : shownAt
}
