// 100 payments a second over 10 wallets for 20 seconds, from the agent's request to the chain, in a sandbox of its own:
// real PostgreSQL, local enclave and local chain, all on this machine. Prints its figures, and fails unless every payment
// that was accepted is confirmed, and every wallet's transactions went out in the order of their nonces.
import { startThrowAwaySandbox, type ThrowAwaySandbox } from '../sandbox/src/throw-away-sandbox.ts'
import { makeAgent, makeGrant, makeKeys, makeParty, makeWallet, type Party } from '../test/support/party.ts'
import { findSandboxDatabase } from '../test/support/sandbox-database.ts'
import { openUsdcChain } from '../test/support/usdc-chain.ts'
import { waitFor } from '../test/support/wait-for.ts'
import { connectControl } from '../test/support/world.ts'

const PAYMENTS_PER_SECOND = 100
const SECONDS = 20
/** Fresh processes compile as they run; these payments are not in the times, but in every other figure. */
const WARM_UP_PAYMENTS_PER_SECOND = 40
const WARM_UP_SECONDS = 5
const WALLETS = 10
/** A key may pay 30 times a minute (specification, part 8); two less, since each phase is dealt out from the first key on. */
const KEY_PAYMENTS_MAX = 28
const AMOUNT_USDC = '0.01'
/** From the last answer to the last confirmation. */
const SETTLE_MS_MAX = 60_000

interface Sent {
  readonly status: number
  readonly id: string
  readonly error: string
  /** From the moment when it was due, so that a late sender does not flatter. */
  readonly answerMs: number
}

const sandbox = await startThrowAwaySandbox()
try {
  process.exitCode = (await measure(sandbox)) ? 0 : 1
} finally {
  await sandbox.remove()
}

async function measure({ facts, dataDir, port }: ThrowAwaySandbox): Promise<boolean> {
  const hands = { baseUrl: facts.base_url, control: connectControl(facts.control_url) }
  const parties = await makeParties(hands)
  const count = WARM_UP_PAYMENTS_PER_SECOND * WARM_UP_SECONDS + PAYMENTS_PER_SECOND * SECONDS
  const [first] = parties
  if (first === undefined) throw new Error('nobody pays')
  const keys = await makeKeys(hands, first, Math.ceil(count / KEY_PAYMENTS_MAX))

  const schedule = { baseUrl: facts.base_url, parties, keys }
  const warmUp = await sendSteadily(schedule, { perSecond: WARM_UP_PAYMENTS_PER_SECOND, seconds: WARM_UP_SECONDS })
  const startedAt = performance.now()
  const measured = await sendSteadily(schedule, { perSecond: PAYMENTS_PER_SECOND, seconds: SECONDS })
  const answeredAt = performance.now()
  const sent = [...warmUp, ...measured]
  const accepted = sent.filter(({ status }) => status === 201)

  const { query } = findSandboxDatabase({ dataDir, port })
  const pending = async (): Promise<number> =>
    Number((await query("select count(*) from payments where status = 'pending'"))[0]?.['count'])
  const settled = await waitFor('all settled', async () => (await pending()) === 0, SETTLE_MS_MAX).catch(() => false)
  const settledMs = performance.now() - answeredAt
  const wallets = parties.map(({ wallet }) => wallet)
  const statuses = await query(
    'select status, count(*) from payments where wallet_address = any($1) group by status order by status',
    [wallets],
  )
  const confirmed = Number(statuses.find((row) => row['status'] === 'confirmed')?.['count'] ?? 0)
  const chain = openUsdcChain(facts.chains.test)
  const transfers = (await Promise.all(wallets.map((wallet) => chain.listTransfers(wallet)))).flat().length
  const disorder = await findNonceDisorder(chain, wallets)

  const times = measured.map(({ answerMs }) => answerMs).sort((left, right) => left - right)
  say(`sent: ${measured.length} in ${Math.round(answeredAt - startedAt)} ms, ${WALLETS} wallets, ${keys.length} keys`)
  say(`accepted: ${accepted.length}, ${warmUp.length} of a warm-up included`)
  for (const [error, times] of countErrors(sent)) say(`not accepted: ${times} times ${error}`)
  say(`answer time: p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms, max ${quantile(times, 1)} ms`)
  say(`records: ${statuses.map((row) => `${String(row['count'])} ${String(row['status'])}`).join(', ')}`)
  say(
    `from the last answer to the last confirmation: ${settled ? Math.round(settledMs) : `more than ${SETTLE_MS_MAX}`} ms`,
  )
  say(`transfers on the chain: ${transfers}; wallets whose nonces are out of order: ${disorder.length}`)
  return accepted.length === count && confirmed === count && transfers === count && disorder.length === 0
}

/** One workspace, with an agent and a grant for each wallet. */
async function makeParties(hands: Parameters<typeof makeParty>[0]): Promise<Party[]> {
  const terms = { plan: 'scale', dailyCapUsdc: '1000000', maxPerTxUsdc: '1' } as const
  const first = await makeParty(hands, terms)
  const parties = [first]
  while (parties.length < WALLETS) {
    const agentId = await makeAgent(hands, first.key)
    const wallet = await makeWallet(hands, { slug: first.slug, mode: first.mode, fundUsdc: '1000' })
    const party = { ...first, agentId, wallet }
    parties.push({ ...party, grantId: await makeGrant(hands, party, terms) })
  }
  return parties
}

interface Schedule {
  readonly baseUrl: string
  readonly parties: readonly Party[]
  readonly keys: readonly string[]
}

/** Each payment leaves when it is due, however many are under way. */
async function sendSteadily(
  { baseUrl, parties, keys }: Schedule,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Sent[]> {
  const startedAt = performance.now()
  return await Promise.all(
    Array.from({ length: perSecond * seconds }, async (_, index) => {
      const dueAt = startedAt + (index * 1_000) / perSecond
      await new Promise((resolve) => {
        setTimeout(resolve, Math.max(0, dueAt - performance.now()))
      })
      const party = parties[index % parties.length]
      const key = keys[index % keys.length]
      if (party === undefined || key === undefined) throw new Error('nobody pays')
      return await pay(baseUrl, { party, key, dueAt })
    }),
  )
}

async function pay(
  baseUrl: string,
  { party, key, dueAt }: { party: Party; key: string; dueAt: number },
): Promise<Sent> {
  const { agentId, wallet, recipient } = party
  const response = await fetch(`${baseUrl}/v1/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ agent_id: agentId, wallet, to: recipient, amount_usdc: AMOUNT_USDC }),
  })
  const body = (await response.json()) as { payment?: { id: string }; error?: { code?: string; type: string } }
  const { status } = response
  const error = `${status} ${body.error?.code ?? body.error?.type ?? ''}`
  return { status, id: body.payment?.id ?? '', error, answerMs: performance.now() - dueAt }
}

interface Block {
  readonly transactions: readonly { readonly from: string; readonly nonce: string }[]
}

/** The wallets whose transactions, block by block and in each block's order, do not count up from 0 without a gap. */
async function findNonceDisorder(chain: ReturnType<typeof openUsdcChain>, wallets: readonly string[]) {
  const nonces = new Map(wallets.map((wallet) => [wallet.toLowerCase(), [] as number[]]))
  const head = Number(await chain.call('eth_blockNumber', []))
  for (let number = 1; number <= head; number += 1) {
    const block = (await chain.call('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])) as Block
    for (const { from, nonce } of block.transactions) nonces.get(from.toLowerCase())?.push(Number(nonce))
  }
  return [...nonces].filter(([, used]) => used.some((nonce, index) => nonce !== index)).map(([wallet]) => wallet)
}

function countErrors(sent: readonly Sent[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { status, error } of sent) if (status !== 201) counts.set(error, (counts.get(error) ?? 0) + 1)
  return counts
}

function quantile(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
