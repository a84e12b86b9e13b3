import type { Hash } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { erc20Abi } from '../values/erc20.ts'
import type { Address } from '../values/address.ts'
import { AMOUNT_MICRO, expiryOf, compare, type CheckRun, type CheckWallet } from './check-run.ts'
import { describeResponse, type Outcome } from './outcome.ts'
import { poll } from './poll.ts'
import { toRecord, type ProviderResponse, type Sign } from './provider-wire.ts'

export const SENDS_AT_ONCE = 5
const LAND_MS_MAX = 120_000
const LAND_POLL_MS = 1_000
const HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/
/** The final statuses of a transaction at the enclave, which never change again. */
const FINAL_STATUSES: readonly string[] = [
  'confirmed',
  'finalized',
  'execution_reverted',
  'failed',
  'replaced',
  'provider_error',
]

interface Landing {
  /** The statuses in the order in which we observed them. */
  readonly statuses: readonly string[]
  readonly hash: Hash | null
  readonly isOnChain: boolean
}

/** Step 3: sends one sponsored transfer and follows it until it is on the chain. */
export async function checkSponsoredSend(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const title = 'a sponsored send'
  const expected = '200, no hash yet, a transaction id, a user operation; then confirmed, the transfer on the chain'
  const response = await sendCheckTransfer(run, wallet, { reference: 'send-1' })
  const data = dataOf(response)
  if (data.transactionId === null) return compare(false, { title, expected, actual: describeResponse(response) })
  const landing = await awaitLanding(run, wallet, data.transactionId)
  const actual = [
    String(response.status),
    data.hash === '' ? 'no hash yet' : `hash ${JSON.stringify(data.hash)}`,
    'a transaction id',
    data.userOperationHash === null ? 'no user operation' : 'a user operation',
  ].join(', ')
  const isSame = response.status === 200 && data.hash === '' && data.userOperationHash !== null && hasLanded(landing)
  return compare(isSame, { title, expected, actual: `${actual}; then ${describeLanding(landing)}` })
}

/** Step 4: sends several transfers at once. The provider does not publish how many it accepts from one wallet. */
export async function checkSendsAtOnce(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const numbers = Array.from({ length: SENDS_AT_ONCE }, (_, index) => index)
  const responses = await Promise.all(
    numbers.map(async (number) => await sendCheckTransfer(run, wallet, { reference: `at-once-${number}` })),
  )
  const accepted = responses.flatMap((response) => dataOf(response).transactionId ?? [])
  const landings = await Promise.all(accepted.map(async (id) => await awaitLanding(run, wallet, id)))
  const landed = landings.filter(hasLanded).length
  const refused = responses.filter((response) => dataOf(response).transactionId === null).map(describeResponse)
  const failed = landings.filter((landing) => !hasLanded(landing)).map(describeLanding)
  return compare(landed === SENDS_AT_ONCE, {
    title: `${SENDS_AT_ONCE} sends at once`,
    expected: `${SENDS_AT_ONCE} accepted, ${SENDS_AT_ONCE} on the chain`,
    actual: [`${accepted.length} accepted, ${landed} on the chain`, ...new Set([...refused, ...failed])].join('; '),
  })
}

/** Step 5: sends the reference id of the first transfer again, with another idempotency key. */
export async function checkDuplicateReference(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const response = await sendCheckTransfer(run, wallet, { reference: 'send-1', attempt: 'again' })
  const found = await run.wire.get(`/v1/transactions?reference_id=${run.runId}-send-1`)
  const listed = found.body['transactions']
  const count = Array.isArray(listed) ? listed.length : 0
  const isRefused = response.status === 400 || response.status === 409
  return compare(isRefused && count === 1, {
    title: 'a duplicate reference id',
    expected: '400 or 409; one transaction under the reference',
    actual: `${describeResponse(response)}; ${count} under the reference`,
  })
}

/** Step 6: sends a request whose signed expiry is already in the past. */
export async function checkExpiredRequest(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const expiresAt = new Date(run.clock.now().getTime() - EXPIRED_SINCE_MS)
  const response = await sendCheckTransfer(run, wallet, { reference: 'expired', expiresAt })
  const text = `${String(response.body['code'])} ${String(response.body['error'])}`
  return compare(response.status === 401 && /request.(?:has.)?expired/i.test(text), {
    title: 'an expired request',
    expected: '401, saying that the request has expired',
    actual: describeResponse(response),
  })
}

/**
 * How long ago the request of step 6 expired. It is longer than any difference between the clocks that the doctor
 * accepts.
 */
const EXPIRED_SINCE_MS = 60_000

/** Sends USDC from the wallet to itself. By default, the wallet's signer signs the request. */
export async function sendCheckTransfer(
  run: CheckRun,
  wallet: CheckWallet,
  {
    reference,
    attempt = 'first',
    expiresAt = expiryOf(run),
    sign = run.agent.sign,
    from,
    amountMicro = AMOUNT_MICRO,
  }: { reference: string; attempt?: string; expiresAt?: Date; sign?: Sign; from?: Address; amountMicro?: bigint },
): Promise<ProviderResponse> {
  const { settings, runId } = run
  const args = [wallet.address, amountMicro] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  const transaction = { to: settings.usdc, data, value: '0x0', chain_id: settings.chainId }
  return await run.wire.post(`/v1/wallets/${wallet.id}/rpc`, {
    body: {
      method: 'eth_sendTransaction',
      chain_type: 'ethereum',
      caip2: `eip155:${settings.chainId}`,
      sponsor: true,
      reference_id: `${runId}-${reference}`,
      params: { transaction: from === undefined ? transaction : { ...transaction, from } },
    },
    idempotencyKey: `${runId}-${reference}-${attempt}`,
    expiresAt,
    sign,
  })
}

export function dataOf({ status, body }: ProviderResponse) {
  const { transaction_id: id, hash, user_operation_hash: operation } = toRecord(body['data'])
  return {
    transactionId: status === 200 && typeof id === 'string' && id !== '' ? id : null,
    hash,
    userOperationHash: typeof operation === 'string' && HASH_PATTERN.test(operation) ? operation : null,
  }
}

/** Polls a transaction at the enclave until its status is final, then looks for the transfer on the chain. */
export async function awaitLanding({ wire, chain }: CheckRun, wallet: CheckWallet, id: string): Promise<Landing> {
  const statuses: string[] = []
  let hash: Hash | null = null
  const limits = { intervalMs: LAND_POLL_MS, timeoutMs: LAND_MS_MAX }
  await poll(async () => {
    const { body } = await wire.get(`/v1/transactions/${id}`)
    const { status, transaction_hash: reportedHash } = body
    if (typeof status === 'string' && statuses.at(-1) !== status) statuses.push(status)
    if (typeof reportedHash === 'string' && HASH_PATTERN.test(reportedHash)) hash = reportedHash as Hash
    return typeof status === 'string' && FINAL_STATUSES.includes(status) ? status : null
  }, limits)
  const landedHash: Hash | null = hash
  if (landedHash === null) return { statuses, hash: null, isOnChain: false }
  const move = { from: wallet.address, to: wallet.address, amountMicro: AMOUNT_MICRO }
  const seen = await poll(async () => (await chain.hasTransfer(landedHash, move).catch(() => false)) || null, {
    ...limits,
    timeoutMs: CHAIN_MS_MAX,
  })
  return { statuses, hash: landedHash, isOnChain: seen === true }
}

/** How long we look for the transfer. Our node may be a few blocks behind the enclave's. */
const CHAIN_MS_MAX = 20_000

export function hasLanded({ statuses, isOnChain }: Landing): boolean {
  return isOnChain && ['confirmed', 'finalized'].includes(statuses.at(-1) ?? '')
}

export function describeLanding({ statuses, hash, isOnChain }: Landing): string {
  const text = statuses.length === 0 ? 'no status' : statuses.join(' → ')
  return `${text}, ${hash === null ? 'no hash' : isOnChain ? 'the transfer on the chain' : 'no transfer on the chain'}`
}
