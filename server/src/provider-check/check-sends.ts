import type { Hash } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { erc20Abi } from '../values/erc20.ts'
import { AMOUNT_MICRO, expiryOf, judge, type CheckRun, type CheckWallet } from './check-run.ts'
import { describeAnswer, type Outcome } from './outcome.ts'
import { poll } from './poll.ts'
import { toRecord, type Answer } from './provider-wire.ts'

export const SENDS_AT_ONCE = 5
const LAND_MS_MAX = 120_000
const LAND_POLL_MS = 1_000
const HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/
/** The provider follows a transaction no further. */
const ENDS: readonly string[] = ['confirmed', 'finalized', 'execution_reverted', 'failed', 'replaced', 'provider_error']

interface Landing {
  /** In the order in which they were seen. */
  readonly statuses: readonly string[]
  readonly hash: Hash | null
  readonly isOnChain: boolean
}

/** 3. One sponsored transfer, from the request to the chain. */
export async function checkSponsoredSend(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const title = 'a sponsored send'
  const expected = '200, no hash yet, a transaction id, a user operation; then confirmed, the transfer on the chain'
  const answer = await sendTransfer(run, wallet, { reference: 'send-1' })
  const data = dataOf(answer)
  if (data.transactionId === null) return judge(false, { title, expected, came: describeAnswer(answer) })
  const landing = await awaitLanding(run, wallet, data.transactionId)
  const came = [
    String(answer.status),
    data.hash === '' ? 'no hash yet' : `hash ${JSON.stringify(data.hash)}`,
    'a transaction id',
    data.userOperationHash === null ? 'no user operation' : 'a user operation',
  ].join(', ')
  const isSame = answer.status === 200 && data.hash === '' && data.userOperationHash !== null && isWell(landing)
  return judge(isSame, { title, expected, came: `${came}; then ${describeLanding(landing)}` })
}

/** 4. Several at once: how many the provider takes from one wallet is not published. */
export async function checkSendsAtOnce(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const numbers = Array.from({ length: SENDS_AT_ONCE }, (_, index) => index)
  const answers = await Promise.all(
    numbers.map(async (number) => await sendTransfer(run, wallet, { reference: `at-once-${number}` })),
  )
  const accepted = answers.flatMap((answer) => dataOf(answer).transactionId ?? [])
  const landings = await Promise.all(accepted.map(async (id) => await awaitLanding(run, wallet, id)))
  const well = landings.filter(isWell).length
  const refused = answers.filter((answer) => dataOf(answer).transactionId === null).map(describeAnswer)
  const unwell = landings.filter((landing) => !isWell(landing)).map(describeLanding)
  return judge(well === SENDS_AT_ONCE, {
    title: `${SENDS_AT_ONCE} sends at once`,
    expected: `${SENDS_AT_ONCE} accepted, ${SENDS_AT_ONCE} on the chain`,
    came: [`${accepted.length} accepted, ${well} on the chain`, ...new Set([...refused, ...unwell])].join('; '),
  })
}

/** 5. The reference of the first send once more, under another idempotency key. */
export async function checkDuplicateReference(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const answer = await sendTransfer(run, wallet, { reference: 'send-1', attempt: 'again' })
  const found = await run.wire.get(`/v1/transactions?reference_id=${run.runId}-send-1`)
  const listed = found.body['transactions']
  const count = Array.isArray(listed) ? listed.length : 0
  const isRefused = answer.status === 400 || answer.status === 409
  return judge(isRefused && count === 1, {
    title: 'a duplicate reference id',
    expected: '400 or 409; one transaction under the reference',
    came: `${describeAnswer(answer)}; ${count} under the reference`,
  })
}

/** 6. A request that was signed to expire before now. */
export async function checkExpiredRequest(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const expiresAt = new Date(run.clock.now().getTime() - EXPIRED_SINCE_MS)
  const answer = await sendTransfer(run, wallet, { reference: 'expired', expiresAt })
  const told = `${String(answer.body['code'])} ${String(answer.body['error'])}`
  return judge(answer.status === 401 && /request.(?:has.)?expired/i.test(told), {
    title: 'an expired request',
    expected: '401, saying that the request has expired',
    came: describeAnswer(answer),
  })
}

/** Beyond any difference between the clocks that a doctor lets pass. */
const EXPIRED_SINCE_MS = 60_000

async function sendTransfer(
  run: CheckRun,
  wallet: CheckWallet,
  {
    reference,
    attempt = 'first',
    expiresAt = expiryOf(run),
  }: { reference: string; attempt?: string; expiresAt?: Date },
): Promise<Answer> {
  const { settings, runId, agent } = run
  const args = [wallet.address, AMOUNT_MICRO] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  return await run.wire.post(`/v1/wallets/${wallet.id}/rpc`, {
    body: {
      method: 'eth_sendTransaction',
      chain_type: 'ethereum',
      caip2: `eip155:${settings.chainId}`,
      sponsor: true,
      reference_id: `${runId}-${reference}`,
      params: { transaction: { to: settings.usdc, data, value: '0x0', chain_id: settings.chainId } },
    },
    idempotencyKey: `${runId}-${reference}-${attempt}`,
    expiresAt,
    sign: agent.sign,
  })
}

function dataOf({ status, body }: Answer) {
  const { transaction_id: id, hash, user_operation_hash: operation } = toRecord(body['data'])
  return {
    transactionId: status === 200 && typeof id === 'string' && id !== '' ? id : null,
    hash,
    userOperationHash: typeof operation === 'string' && HASH_PATTERN.test(operation) ? operation : null,
  }
}

/** Follows a transaction at the provider until its end, then looks for the transfer on the chain. */
async function awaitLanding({ wire, chain }: CheckRun, wallet: CheckWallet, id: string): Promise<Landing> {
  const statuses: string[] = []
  let hash: Hash | null = null
  const limits = { intervalMs: LAND_POLL_MS, timeoutMs: LAND_MS_MAX }
  await poll(async () => {
    const { body } = await wire.get(`/v1/transactions/${id}`)
    const { status, transaction_hash: told } = body
    if (typeof status === 'string' && statuses.at(-1) !== status) statuses.push(status)
    if (typeof told === 'string' && HASH_PATTERN.test(told)) hash = told as Hash
    return typeof status === 'string' && ENDS.includes(status) ? status : null
  }, limits)
  const landed: Hash | null = hash
  if (landed === null) return { statuses, hash: null, isOnChain: false }
  const move = { from: wallet.address, to: wallet.address, amountMicro: AMOUNT_MICRO }
  const seen = await poll(async () => (await chain.hasTransfer(landed, move).catch(() => false)) || null, {
    ...limits,
    timeoutMs: CHAIN_MS_MAX,
  })
  return { statuses, hash: landed, isOnChain: seen === true }
}

/** A node may be a few blocks behind the provider's. */
const CHAIN_MS_MAX = 20_000

function isWell({ statuses, isOnChain }: Landing): boolean {
  return isOnChain && ['confirmed', 'finalized'].includes(statuses.at(-1) ?? '')
}

function describeLanding({ statuses, hash, isOnChain }: Landing): string {
  const told = statuses.length === 0 ? 'no status' : statuses.join(' → ')
  return `${told}, ${hash === null ? 'no hash' : isOnChain ? 'the transfer on the chain' : 'no transfer on the chain'}`
}
