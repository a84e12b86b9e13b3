import { keccak256 } from 'viem/utils'
import { signTransaction } from 'viem/accounts'
import { ChainRefusal } from './chain-node.ts'
import type { ChainNode } from './chain-node.ts'
import type { EnclaveContext } from './context.ts'
import { broadcastFailure } from './errors.ts'
import { findNextNonce } from './find-next-nonce.ts'
import { measureGasLimit } from './measure-gas-limit.ts'
import type { NonceTurn } from './nonce-lanes.ts'
import { checkPolicy, formatAnswer, onChain, recordSend, simulate } from './prepare-send.ts'
import type { BroadcastRecord, TransactionRecord, WalletRecord } from './records.ts'
import { createResourceId } from './resource-id.ts'
import type { Send } from './send-operation.ts'

/** The tip that a self-paying wallet offers per unit of gas. The local nodes suggest the same tip. */
const TIP_WEI = 1_000_000_000n

interface Signed {
  readonly tx: TransactionRecord
  readonly broadcast: BroadcastRecord
}

/** Sends a transaction for which the wallet itself pays the gas, in the chain's native coin. */
export async function sendSelfPaid(context: EnclaveContext, send: Send): Promise<unknown> {
  const { chain, wallet, transfer, order } = send
  const { caip2 } = order.body
  return await context.lanes.takeTurn(wallet.id, caip2, async (turn) => {
    context.references.check(order.body.reference_id)
    const gasEstimated = await simulate(chain, wallet.address, transfer)
    const gasLimit = measureGasLimit(transfer.data, { gasEstimated, failing: false })
    await checkCoin(chain, wallet, gasLimit * TIP_WEI + transfer.value)
    checkPolicy(context, order.party, transfer)
    order.checkExpiry()
    await turn.awaitAuthorization(() => onChain(() => chain.countTransactions(wallet.address)))
    const nonce = await turn.next(() => onChain(() => findNextNonce(context.store, chain, { wallet, caip2 })))
    const failing = context.faults.takeFailingTransfer(caip2)
    const gas = measureGasLimit(transfer.data, { gasEstimated, failing })
    const signed = await signSend(context, send, { nonce, gas })
    const answer = formatAnswer(signed.tx)
    recordSend(context, signed.tx, () => {
      context.store.addBroadcast(signed.broadcast)
      order.keep(answer)
    })
    turn.use(nonce)
    await broadcast(context, chain, { signed, turn })
    return answer
  })
}

/** Throws if the wallet has too few native coins. The real provider's node reports this with the same message. */
async function checkCoin(chain: ChainNode, wallet: WalletRecord, wantedWei: bigint): Promise<void> {
  const haveWei = await onChain(() => chain.getBalance(wallet.address))
  if (haveWei >= wantedWei) return
  throw broadcastFailure(`insufficient funds for gas * price + value: have ${haveWei} want ${wantedWei}`)
}

async function signSend(
  { store, vault, clock }: EnclaveContext,
  { wallet, transfer, order: { body, fault } }: Send,
  { nonce, gas }: { nonce: number; gas: bigint },
): Promise<Signed> {
  const raw = await signTransaction({
    privateKey: vault.open(wallet.id, store.getSealedKey(wallet.id)),
    transaction: {
      type: 'eip1559',
      ...transfer,
      nonce,
      gas,
      maxFeePerGas: TIP_WEI,
      maxPriorityFeePerGas: TIP_WEI,
    },
  })
  const hash = keccak256(raw)
  const tx: TransactionRecord = {
    id: createResourceId(),
    walletId: wallet.id,
    caip2: body.caip2,
    hash,
    userOperationHash: null,
    operation: null,
    referenceId: body.reference_id ?? null,
    status: 'broadcasted',
    createdAt: clock.nowMs(),
    shownAt: Date.now(),
    dueAt: null,
    fault,
  }
  return { tx, broadcast: { hash, sender: wallet.id, caip2: body.caip2, nonce, raw } }
}

/**
 * Sends the transaction to the node. If the node rejects it, that is final: the transaction is removed, and its nonce
 * can be used again. If the node does not respond, it may have accepted the transaction. The transaction is then kept,
 * and is sent again until it is mined.
 */
async function broadcast(
  { store }: EnclaveContext,
  chain: ChainNode,
  { signed, turn }: { signed: Signed; turn: NonceTurn },
): Promise<void> {
  try {
    await chain.broadcast(signed.broadcast.raw)
  } catch (error) {
    if (!(error instanceof ChainRefusal)) return
    store.inTransaction(() => {
      store.deleteTransaction(signed.tx.id)
      store.deleteBroadcast(signed.broadcast.hash)
    })
    turn.forget()
    throw broadcastFailure(error.message)
  }
}
