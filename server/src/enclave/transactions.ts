import { setTimeout } from 'node:timers/promises'
import type { Hash } from 'viem'
import type { EnclaveClient } from './enclave-client.ts'
import { EnclaveRefused } from './errors.ts'
import { malformedResponse } from './failure.ts'

export type EnclaveTransfer = {
  readonly transactionId: string
  readonly txHash: Hash | null
  /** The ERC-4337 user operation that carries a sponsored transfer; null if the provider does not report it. */
  readonly userOperationHash: Hash | null
  /** `pending`, `broadcasted`, `confirmed`, `finalized`, `execution_reverted`, `failed`, `replaced`, `provider_error`. */
  readonly status: string
}

export type TransferLookup = {
  /** Null if the provider says that it does not know the reference id. */
  readonly transfer: EnclaveTransfer | null
  /** The provider's time of the response, rounded down, and no later than our estimate of its clock. */
  readonly providerTime: Date
}

/** A sponsored transfer gets its hash when it is on the chain, which takes one or two blocks. */
const HASH_POLL_FIRST_MS = 400
const HASH_POLL_GROWTH = 1.6
const HASH_POLL_MAX_MS = 2_000
/** A transaction without a hash that has one of these statuses will not get one soon. */
const HASHLESS_FINAL_STATUSES: readonly string[] = ['failed', 'provider_error', 'execution_reverted', 'replaced']

/**
 * Polls a transaction until it has its hash, at growing intervals, for at most `timeoutMs` (D24). Returns null if there is
 * no hash by then. A failed look-up is ignored, because the transfer itself has been accepted.
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
    await setTimeout(delayMs, undefined, { signal: deadline }).catch(() => undefined)
    const found = deadline.aborted ? null : await findById(client, transactionId, deadline)
    if (found !== null && (found.txHash !== null || HASHLESS_FINAL_STATUSES.includes(found.status))) return found.txHash
  }
  return null
}

async function findById(client: EnclaveClient, id: string, signal: AbortSignal): Promise<EnclaveTransfer | null> {
  try {
    await client.budget.take(signal)
    return parseTransfer(await client.sdk.transactions().get(id, { signal }))
  } catch {
    return null
  }
}

/**
 * Looks up the transfer that the provider accepted under a payment's reference id (D23). `transfer` is null only if the
 * provider says that there is none. Callers rely on this to send again, so every other response is an error.
 * @throws EnclaveUnavailable
 */
export async function findTransfer(client: EnclaveClient, referenceId: string): Promise<TransferLookup> {
  const operation = 'looking up a transfer'
  const path = `/v1/transactions?reference_id=${encodeURIComponent(referenceId)}`
  await client.call(operation, async () => client.budget.take(AbortSignal.timeout(client.timeoutMs)))
  const askedAt = client.clock.now()
  const { body, date } = await client.getJson(operation, path).catch((error: unknown) => {
    if (!(error instanceof EnclaveRefused)) throw error
    const { status, code, reason } = error
    throw client.toError(operation, { kind: 'unknown', status, code, reason, isProviderError: true })
  })
  const listed = isRecord(body) ? body['transactions'] : undefined
  if (!Array.isArray(listed)) throw client.toError(operation, malformedResponse())
  const transfers = listed.map((entry) => (matches(entry, referenceId) ? parseTransfer(entry) : null))
  if (transfers.includes(null)) throw client.toError(operation, malformedResponse())
  const reported = date === null ? Number.NaN : Date.parse(date)
  return {
    transfer: transfers.find((transfer) => transfer?.txHash) ?? transfers[0] ?? null,
    // A single wrong header must not end a fence early.
    providerTime: Number.isNaN(reported) || reported > askedAt.getTime() ? askedAt : new Date(reported),
  }
}

/** Checks each entry: a provider that ignores the filter would list other payments' transactions. */
function matches(entry: unknown, referenceId: string): boolean {
  return isRecord(entry) && entry['reference_id'] === referenceId
}

function parseTransfer(entry: unknown): EnclaveTransfer | null {
  if (!isRecord(entry)) return null
  const { id, transaction_hash: hash, user_operation_hash: operation, status } = entry
  if (typeof id !== 'string' || typeof status !== 'string') return null
  return { transactionId: id, txHash: parseTxHash(hash), userOperationHash: parseTxHash(operation), status }
}

/** Returns null for a missing or empty hash. */
export function parseTxHash(hash: unknown): Hash | null {
  return typeof hash === 'string' && /^0x[0-9a-fA-F]{64}$/.test(hash) ? (hash.toLowerCase() as Hash) : null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
