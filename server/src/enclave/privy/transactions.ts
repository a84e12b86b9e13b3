import { setTimeout } from 'node:timers/promises'
import type { Hash } from 'viem'
import type { Enclave, EnclaveTransfer, TransferLookup } from '../enclave.ts'
import { EnclaveRefused } from '../errors.ts'
import type { EnclaveClient } from './enclave-client.ts'
import { malformedResponse } from './failure.ts'

/**
 * How often we ask for a transaction's hash. A sponsored transfer gets its hash when it is on the chain, which takes
 * one or two blocks.
 */
const HASH_POLL_FIRST_MS = 400
const HASH_POLL_GROWTH = 1.6
const HASH_POLL_MAX_MS = 2_000
/** Visible ASCII characters. All known ids are shorter than 64 characters. */
const ID_PATTERN = /^[\x21-\x7e]{1,255}$/
/** The statuses that report a bad end. The others are `pending`, `broadcasted`, `confirmed` and `finalized`. */
const FAILURES: ReadonlyMap<string, EnclaveTransfer['failure']> = new Map([
  ['failed', 'failed'],
  ['provider_error', 'failed'],
  ['replaced', 'replaced'],
  ['execution_reverted', 'reverted'],
])

/** Polls a transaction until it has a hash, or a status that says that it will not get one soon, at growing intervals. */
export async function awaitTxHash(
  client: EnclaveClient,
  transactionId: string,
  { timeoutMs, workspaceId }: Parameters<Enclave['awaitTxHash']>[1],
): Promise<Hash | null> {
  const deadline = AbortSignal.timeout(timeoutMs)
  for (
    let delayMs = HASH_POLL_FIRST_MS;
    !deadline.aborted;
    delayMs = Math.min(delayMs * HASH_POLL_GROWTH, HASH_POLL_MAX_MS)
  ) {
    await setTimeout(delayMs, undefined, { signal: deadline }).catch(() => undefined)
    const found = deadline.aborted ? null : await findById(client, { transactionId, workspaceId }, deadline)
    if (found !== null && (found.txHash !== null || found.failure !== null)) return found.txHash
  }
  return null
}

async function findById(
  client: EnclaveClient,
  { transactionId, workspaceId }: { transactionId: string; workspaceId: string },
  signal: AbortSignal,
): Promise<EnclaveTransfer | null> {
  try {
    await client.budget.take(workspaceId, signal)
    return parseTransfer(await client.sdk.transactions().get(transactionId, { signal }))
  } catch {
    return null
  }
}

export async function findTransfer(
  client: EnclaveClient,
  referenceId: string,
  workspaceId: string,
): Promise<TransferLookup> {
  const operation = 'looking up a transfer'
  const path = `/v1/transactions?reference_id=${encodeURIComponent(referenceId)}`
  await client.call(operation, async () => client.budget.take(workspaceId, AbortSignal.timeout(client.timeoutMs)))
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
    // The time is never later than our estimate. A payment may be sent again from a certain time on, and one wrong
    // `Date` header must not make that happen early.
    providerTime: Number.isNaN(reported) || reported > askedAt.getTime() ? askedAt : new Date(reported),
  }
}

/**
 * Returns whether an entry belongs to the payment. If the enclave ignored the filter, it would return transactions of
 * other payments.
 */
function matches(entry: unknown, referenceId: string): boolean {
  return isRecord(entry) && entry['reference_id'] === referenceId
}

function parseTransfer(entry: unknown): EnclaveTransfer | null {
  if (!isRecord(entry)) return null
  const { id, transaction_hash: hash, user_operation_hash: operation, status } = entry
  const transactionId = parseEnclaveId(id)
  if (transactionId === null || typeof status !== 'string') return null
  return {
    transactionId,
    txHash: parseTxHash(hash),
    userOperationHash: parseTxHash(operation),
    failure: FAILURES.get(status) ?? null,
  }
}

/** Returns an id that the provider has made. Null if it is missing, or does not look like an id. */
export function parseEnclaveId(id: unknown): string | null {
  return typeof id === 'string' && ID_PATTERN.test(id) ? id : null
}

/** Returns null for a missing or empty hash. */
export function parseTxHash(hash: unknown): Hash | null {
  return typeof hash === 'string' && /^0x[0-9a-fA-F]{64}$/.test(hash) ? (hash.toLowerCase() as Hash) : null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
