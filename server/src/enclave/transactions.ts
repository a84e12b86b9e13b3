import { setTimeout } from 'node:timers/promises'
import type { Hash } from 'viem'
import type { EnclaveClient } from './enclave-client.ts'
import { EnclaveRefused } from './errors.ts'
import { malformedAnswer } from './failure.ts'

export type EnclaveTransfer = {
  readonly transactionId: string
  readonly txHash: Hash | null
  /** `pending`, `broadcasted`, `confirmed`, `finalized`, `execution_reverted`, `failed`, `replaced`, `provider_error`. */
  readonly status: string
}

const HASH_POLL_FIRST_MS = 15
const HASH_POLL_GROWTH = 1.5
const HASH_POLL_MAX_MS = 500
/** A transaction without a hash in one of these will never have one. */
const HASHLESS_ENDS: readonly string[] = ['failed', 'provider_error']

/**
 * Asks for a transaction until it has its hash, at waiting times that grow, for `timeoutMs` at most (D24). Null when the
 * hash has not come. Faults on the way are no more than that, since the transfer itself is accepted.
 */
export async function awaitTxHash(
  client: EnclaveClient,
  transactionId: string,
  { timeoutMs }: { timeoutMs: number },
): Promise<Hash | null> {
  const deadline = AbortSignal.timeout(timeoutMs)
  for (
    let delayMs = HASH_POLL_FIRST_MS;
    !deadline.aborted;
    delayMs = Math.min(delayMs * HASH_POLL_GROWTH, HASH_POLL_MAX_MS)
  ) {
    const found = await findById(client, transactionId, deadline)
    if (found !== null && (found.txHash !== null || HASHLESS_ENDS.includes(found.status))) return found.txHash
    await setTimeout(delayMs, undefined, { signal: deadline }).catch(() => undefined)
  }
  return null
}

async function findById(client: EnclaveClient, id: string, signal: AbortSignal): Promise<EnclaveTransfer | null> {
  try {
    return parseTransfer(await client.sdk.transactions().get(id, { signal }))
  } catch {
    return null
  }
}

/**
 * Looks up what the enclave accepted under a payment's reference id (D23). Null only when the enclave says that there is
 * nothing: whoever sends again relies on it, so every other answer counts as none.
 * @throws EnclaveUnavailable
 */
export async function findTransfer(client: EnclaveClient, referenceId: string): Promise<EnclaveTransfer | null> {
  const operation = 'looking a transfer up'
  const path = `/v1/transactions?reference_id=${encodeURIComponent(referenceId)}`
  const answer = await client.getJson(operation, path).catch((error: unknown) => {
    if (!(error instanceof EnclaveRefused)) throw error
    throw client.raise(operation, { kind: 'unknown', status: error.status, code: error.code, reason: error.reason })
  })
  const listed = isRecord(answer) ? answer['transactions'] : undefined
  if (!Array.isArray(listed)) throw client.raise(operation, malformedAnswer())
  const transfers = listed.map((entry) => (matches(entry, referenceId) ? parseTransfer(entry) : null))
  if (transfers.includes(null)) throw client.raise(operation, malformedAnswer())
  return transfers.find((transfer) => transfer?.txHash) ?? transfers[0] ?? null
}

/** An enclave that does not know the filter would list other payments' transactions. */
function matches(entry: unknown, referenceId: string): boolean {
  return isRecord(entry) && entry['reference_id'] === referenceId
}

function parseTransfer(entry: unknown): EnclaveTransfer | null {
  if (!isRecord(entry)) return null
  const { id, transaction_hash: hash, status } = entry
  if (typeof id !== 'string' || typeof status !== 'string') return null
  return { transactionId: id, txHash: parseTxHash(hash), status }
}

/** Null for an absent or empty hash. */
export function parseTxHash(hash: unknown): Hash | null {
  return typeof hash === 'string' && /^0x[0-9a-fA-F]{64}$/.test(hash) ? (hash.toLowerCase() as Hash) : null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
