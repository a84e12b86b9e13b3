import { randomBytes, randomUUID } from 'node:crypto'
import { getAddress } from 'viem/utils'
import type { Mode } from '../../../server/src/values/mode.ts'
import { call, type JsonAnswer, type WireAgent, type WirePayment } from '../http-client.ts'
import { waitFor } from '../wait-for.ts'
import type { SandboxFixture } from './sandbox-fixture.ts'

/** The functions of a sandbox fixture that are needed to create a payer. */
type SandboxAccess = Pick<SandboxFixture, 'control' | 'baseUrl'>

/** A workspace that can pay, with a key, an agent, a funded wallet and a signed grant. */
export interface PayerFixture {
  readonly slug: string
  readonly mode: Mode
  readonly key: string
  readonly agentId: string
  readonly wallet: string
  readonly grantId: string
  /** An address that receives payments only from this payer. */
  readonly recipient: string
}

/** The member `data.deposit` of the event `inbound.received`. */
export interface WireDeposit {
  readonly id: string
  readonly wallet: string
  readonly from: string
  readonly amount_usdc: string
  readonly tx_hash: string
  readonly block_number: number
  readonly created_at: string
}

export interface PayerOptions {
  readonly mode?: Mode
  readonly plan?: 'developer' | 'pro' | 'scale'
  readonly fundUsdc?: string
  readonly maxPerTxUsdc?: string
  readonly dailyCapUsdc?: string
  /** Additional fields of the request that creates the grant. */
  readonly grant?: object
}

export async function createPayer(fixture: SandboxAccess, options: PayerOptions = {}): Promise<PayerFixture> {
  const { mode = 'test', plan = 'developer', fundUsdc = '1000' } = options
  const { workspace } = (await fixture.control('/workspaces', { name: `W ${randomBytes(4).toString('hex')}`, plan }))
    .body
  const key = workspace.keys[mode]
  const wallet = await makeWallet(fixture, { slug: workspace.slug, mode, fundUsdc })
  const agentId = await makeAgent(fixture, key)
  const payer = { slug: workspace.slug, mode, key, agentId, wallet, grantId: '', recipient: makeAddress() }
  return { ...payer, grantId: await makeGrant(fixture, payer, options) }
}

export async function makeAgent(fixture: SandboxAccess, key: string): Promise<string> {
  const id = `agent-${randomBytes(4).toString('hex')}`
  const answer = await call(fixture.baseUrl, 'POST', '/v1/agents', { key, body: { id } })
  if (answer.status !== 201) throw new Error(answer.text)
  return id
}

export async function makeWallet(
  fixture: SandboxAccess,
  { slug, mode, fundUsdc = '0' }: { slug: string; mode: Mode; fundUsdc?: string },
): Promise<string> {
  const answer = await fixture.control(`/workspaces/${slug}/wallets`, { mode, fund_usdc: fundUsdc })
  return answer.body.wallet.address
}

/** Creates a grant, signs it as the owner, and returns its id. */
export async function makeGrant(
  fixture: SandboxAccess,
  { slug, mode, agentId, wallet }: Pick<PayerFixture, 'slug' | 'mode' | 'agentId' | 'wallet'>,
  { maxPerTxUsdc = '10', dailyCapUsdc = '100', grant = {} }: PayerOptions = {},
): Promise<string> {
  const terms = { max_per_tx_usdc: maxPerTxUsdc, daily_cap_usdc: dailyCapUsdc, ...grant }
  const answer = await fixture.control(`/workspaces/${slug}/grants`, { mode, agent_id: agentId, wallet, ...terms })
  return answer.body.grant.id
}

export async function makeKeys(fixture: SandboxAccess, { slug, mode }: PayerFixture, count: number): Promise<string[]> {
  const keys: string[] = []
  for (let index = 0; index < count; index += 1) {
    keys.push((await fixture.control(`/workspaces/${slug}/keys`, { mode })).body.key.secret)
  }
  return keys
}

export function makeAddress(): string {
  return getAddress(`0x${randomBytes(20).toString('hex')}`)
}

/**
 * Makes a payment. `change` replaces fields of the body. `key` and `baseUrl` replace the API key and the service's
 * address.
 */
export async function pay(
  fixture: Pick<SandboxFixture, 'baseUrl'>,
  payer: PayerFixture,
  {
    key = payer.key,
    baseUrl = fixture.baseUrl,
    ...change
  }: { key?: string; baseUrl?: string; [member: string]: unknown } = {},
): Promise<JsonAnswer> {
  const { agentId, wallet, recipient } = payer
  const body = { agent_id: agentId, wallet, to: recipient, amount_usdc: '1', ...change }
  return await call(baseUrl, 'POST', '/v1/payments', { key, body })
}

/**
 * Makes a payment as `pay` does, and as the SDK does repeats a request that the service or the enclave could not serve at
 * the moment (500 to 503), with its idempotency key.
 */
export async function payPatiently(
  fixture: SandboxFixture,
  payer: PayerFixture,
  change: { key?: string; baseUrl?: string; [member: string]: unknown } = {},
): Promise<JsonAnswer> {
  const order = { idempotency_key: randomUUID(), ...change }
  return await waitFor('the service takes the payment', async () => {
    const answer = await pay(fixture, payer, order)
    return answer.status >= 500 ? null : answer
  })
}

export async function readPayment(fixture: SandboxFixture, { key }: PayerFixture, id: string): Promise<WirePayment> {
  const answer = await call(fixture.baseUrl, 'GET', `/v1/payments/${id}`, { key })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body.payment
}

export async function readAgent(fixture: SandboxFixture, { key, agentId }: PayerFixture): Promise<WireAgent> {
  const answer = await call(fixture.baseUrl, 'GET', `/v1/agents/${agentId}`, { key })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body.agent
}

/**
 * Waits until the payment has this status in the database. It does not use the API, because a GET request would update
 * the payment.
 */
export async function waitForRecord(fixture: SandboxFixture, id: string, status: string): Promise<void> {
  await waitFor(
    `payment ${id} is ${status}`,
    async () =>
      (await fixture.query('select 1 from payments where id = $1 and status = $2', [id, status])).length === 1,
  )
}

/** Returns the types of the events about a payment, in order. */
export async function listPaymentEvents(fixture: SandboxFixture, id: string): Promise<string[]> {
  const rows = await fixture.query(
    "select type from events where data -> 'payment' ->> 'id' = $1 order by created_at, id",
    [id],
  )
  return rows.map((row) => String(row['type']))
}

/** Returns the deposits that are reported by the events about a wallet, one entry per event. */
export async function listDepositEvents(fixture: SandboxFixture, wallet: string): Promise<WireDeposit[]> {
  const rows = await fixture.query(
    `select data -> 'deposit' as deposit from events
      where type = 'inbound.received' and data -> 'deposit' ->> 'wallet' = $1 order by id`,
    [wallet],
  )
  return rows.map((row) => row['deposit'] as WireDeposit)
}

export async function waitForDeposits(fixture: SandboxFixture, wallet: string, count = 1): Promise<WireDeposit[]> {
  return await waitFor(`${count} deposits of ${wallet}`, async () => {
    const deposits = await listDepositEvents(fixture, wallet)
    return deposits.length >= count && deposits
  })
}
