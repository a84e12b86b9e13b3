import { getAddress, keccak256, stringToHex, toHex } from 'viem'
import type { Address, Hash, Hex } from 'viem'
import { signTransaction } from 'viem/accounts'
import { ChainRefusal } from './chain-node.ts'
import type { ChainNode } from './chain-node.ts'
import { getChain } from './context.ts'
import type { EnclaveContext } from './context.ts'
import { decidePolicy } from './decide-policy.ts'
import { ApiError, broadcastFailure, invalidData, policyViolation } from './errors.ts'
import type { KeepAnswer } from './idempotency.ts'
import { measureGasLimit } from './measure-gas-limit.ts'
import type { NonceTurn } from './nonce-lanes.ts'
import type { TransactionRecord, WalletRecord } from './records.ts'
import { createResourceId } from './resource-id.ts'
import type { Quantity, SendTransactionBody } from './schemas.ts'

/** Who was found to have signed the request: the owner, whom no policy need bind, or a signer, whom one must. */
export interface SendingParty {
  readonly isSigner: boolean
  readonly policyIds: readonly string[]
}

interface Transfer {
  readonly to: Address
  readonly data: Hex
  readonly value: bigint
  readonly chainId: number
}

export interface SendOrder {
  readonly party: SendingParty
  readonly body: SendTransactionBody
  readonly keep: KeepAnswer
  /** Throws 401 once the signed request has expired: the wallet's turn may have been waited for. */
  readonly checkExpiry: () => void
}

/**
 * Simulates, checks the policy, signs, writes the signed transaction down together with its answer, and only then broadcasts it.
 * From the moment of writing it will be sent until it is mined; so an answer lost on the way loses nothing.
 * Throws 400 `transaction_broadcast_failure` when the simulation fails or the chain refuses it (nothing is kept then),
 * 400 `policy_violation`, 400 `invalid_data`, and 503 when the chain is out of reach before anything was signed.
 */
export async function sendTransaction(
  context: EnclaveContext,
  wallet: WalletRecord,
  { party, body, keep, checkExpiry }: SendOrder,
): Promise<unknown> {
  const chain = getChain(context, body.caip2)
  const transfer = parseTransfer(wallet, body)
  return await context.lanes.takeTurn(wallet.id, body.caip2, async (turn) => {
    checkReference(context, body.reference_id)
    const gasEstimated = await simulate(chain, wallet.address, transfer)
    checkPolicy(context, party, transfer)
    checkExpiry()
    const nonce = await turn.next(() => findNextNonce(context, chain, wallet, body.caip2))
    const tx = await sign(context, wallet, { body, transfer, nonce, gasEstimated })
    const answer = formatAnswer(tx)
    record(context, tx, () => keep(answer))
    turn.use(nonce)
    await broadcast(context, chain, { tx, turn })
    return answer
  })
}

function parseTransfer(wallet: WalletRecord, { caip2, params }: SendTransactionBody): Transfer {
  const { to, data, value, chain_id, from } = params.transaction
  const chainId = Number(caip2.slice(caip2.indexOf(':') + 1))
  if (chain_id !== undefined && parseQuantity(chain_id) !== BigInt(chainId)) {
    throw invalidData('chain_id does not match caip2')
  }
  if (from !== undefined && getAddress(from) !== wallet.address)
    throw invalidData('from is not the address of the wallet')
  return { to: getAddress(to), data: (data ?? '0x') as Hex, value: parseQuantity(value ?? 0), chainId }
}

function parseQuantity(quantity: Quantity): bigint {
  return BigInt(quantity)
}

function checkReference({ store }: EnclaveContext, referenceId: string | undefined): void {
  if (referenceId !== undefined && store.findTransactionByReference(referenceId) !== null) {
    throw invalidData('reference_id must be unique')
  }
}

/** The provider simulates before it asks the policy: a transfer that can't succeed is refused as such, to anyone. */
async function simulate(chain: ChainNode, from: Address, { to, data, value }: Transfer): Promise<bigint> {
  return await onChain(() => chain.estimateGas({ from, to, data, value: toHex(value) }))
}

function checkPolicy({ store, clock }: EnclaveContext, party: SendingParty, transfer: Transfer): void {
  if (party.isSigner && party.policyIds.length === 0) throw policyViolation()
  const policies = party.policyIds.map((id) => store.findPolicy(id))
  const decision = decidePolicy(policies, {
    method: 'eth_sendTransaction',
    to: transfer.to,
    value: transfer.value,
    chainId: BigInt(transfer.chainId),
    data: transfer.data,
    nowSeconds: BigInt(Math.floor(clock.nowMs() / 1000)),
  })
  if (decision === 'DENY') throw policyViolation()
}

async function findNextNonce(
  { store }: EnclaveContext,
  chain: ChainNode,
  wallet: WalletRecord,
  caip2: string,
): Promise<number> {
  const own = store.findLastNonce(wallet.id, caip2)
  const mined = await onChain(() => chain.countTransactions(wallet.address))
  return Math.max(own === null ? 0 : own + 1, mined)
}

async function sign(
  { store, vault, clock, faults }: EnclaveContext,
  wallet: WalletRecord,
  {
    body,
    transfer,
    nonce,
    gasEstimated,
  }: { body: SendTransactionBody; transfer: Transfer; nonce: number; gasEstimated: bigint },
): Promise<TransactionRecord> {
  const failing = faults.takeFailingTransfer(body.caip2)
  const raw = await signTransaction({
    privateKey: vault.open(wallet.id, store.getSealedKey(wallet.id)),
    transaction: {
      type: 'eip1559',
      ...transfer,
      nonce,
      gas: measureGasLimit(transfer.data, { gasEstimated, failing }),
      // Gas is sponsored: the local chains take transactions without a fee.
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
    },
  })
  const id = createResourceId()
  return {
    id,
    walletId: wallet.id,
    caip2: body.caip2,
    nonce,
    raw,
    hash: keccak256(raw),
    userOperationHash: body.sponsor === true ? createUserOperationHash(id) : null,
    referenceId: body.reference_id ?? null,
    status: 'broadcasted',
    createdAt: clock.nowMs(),
  }
}

/** There is no bundler here: the hash only has the form of one, and is unique. */
function createUserOperationHash(transactionId: string): Hash {
  return keccak256(stringToHex(transactionId))
}

/** A sponsored send is answered before its hash is known, as by the provider: the client asks for the transaction later. */
function formatAnswer(tx: TransactionRecord): unknown {
  return {
    method: 'eth_sendTransaction',
    data: {
      hash: tx.userOperationHash === null ? tx.hash : '',
      ...(tx.userOperationHash === null ? {} : { user_operation_hash: tx.userOperationHash }),
      caip2: tx.caip2,
      transaction_id: tx.id,
      reference_id: tx.referenceId,
    },
  }
}

function record({ store }: EnclaveContext, tx: TransactionRecord, keepAnswer: () => void): void {
  store.inTransaction(() => {
    // Another wallet may have taken the reference while this one was simulated.
    if (tx.referenceId !== null && store.findTransactionByReference(tx.referenceId) !== null) {
      throw invalidData('reference_id must be unique')
    }
    store.addTransaction(tx)
    keepAnswer()
  })
}

/**
 * A refusal is certain: the transaction is taken back and its nonce is free again. When the node does not answer, the transaction may be on its way:
 * it stays, and is sent again until it is mined.
 */
async function broadcast(
  { store }: EnclaveContext,
  chain: ChainNode,
  { tx, turn }: { tx: TransactionRecord; turn: NonceTurn },
): Promise<void> {
  try {
    await chain.broadcast(tx.raw)
  } catch (error) {
    if (!(error instanceof ChainRefusal)) return
    store.deleteTransaction(tx.id)
    turn.forget()
    throw broadcastFailure(error.message)
  }
}

async function onChain<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof ChainRefusal) throw broadcastFailure(error.message)
    throw new ApiError(503, 'The chain cannot be reached')
  }
}
