import { randomBytes } from 'node:crypto'
import { getAddress } from 'viem/utils'
import type { Mode } from '../../server/src/values/mode.ts'
import { call, type JsonAnswer, type WireAgent, type WirePayment } from './json-client.ts'
import { waitFor } from './wait-for.ts'
import type { World } from './world.ts'

/** What it takes to make a party. */
type Hands = Pick<World, 'control' | 'baseUrl'>

/** Who pays: a workspace of its own with a key, an agent, a funded wallet and a signed grant. */
export interface Party {
  readonly slug: string
  readonly mode: Mode
  readonly key: string
  readonly agentId: string
  readonly wallet: string
  readonly grantId: string
  /** Nobody else is paid at this address. */
  readonly recipient: string
}

/** `data.deposit` of `inbound.received`. */
export interface WireDeposit {
  readonly id: string
  readonly wallet: string
  readonly from: string
  readonly amount_usdc: string
  readonly tx_hash: string
  readonly block_number: number
  readonly created_at: string
}

export interface PartyOptions {
  readonly mode?: Mode
  readonly plan?: 'developer' | 'pro' | 'scale'
  readonly fundUsdc?: string
  readonly maxPerTxUsdc?: string
  readonly dailyCapUsdc?: string
  /** Further members of the grant. */
  readonly grant?: object
}

export async function makeParty(world: Hands, options: PartyOptions = {}): Promise<Party> {
  const { mode = 'test', plan = 'developer', fundUsdc = '1000' } = options
  const { workspace } = (await world.control('/workspaces', { name: `W ${randomBytes(4).toString('hex')}`, plan })).body
  const key = workspace.keys[mode]
  const wallet = await makeWallet(world, { slug: workspace.slug, mode, fundUsdc })
  const agentId = await makeAgent(world, key)
  const party = { slug: workspace.slug, mode, key, agentId, wallet, grantId: '', recipient: makeAddress() }
  return { ...party, grantId: await makeGrant(world, party, options) }
}

export async function makeAgent(world: Hands, key: string): Promise<string> {
  const id = `agent-${randomBytes(4).toString('hex')}`
  const answer = await call(world.baseUrl, 'POST', '/v1/agents', { key, body: { id } })
  if (answer.status !== 201) throw new Error(answer.text)
  return id
}

export async function makeWallet(
  world: Hands,
  { slug, mode, fundUsdc = '0' }: { slug: string; mode: Mode; fundUsdc?: string },
): Promise<string> {
  const answer = await world.control(`/workspaces/${slug}/wallets`, { mode, fund_usdc: fundUsdc })
  return answer.body.wallet.address
}

/** Answers the grant's id. */
export async function makeGrant(
  world: Hands,
  { slug, mode, agentId, wallet }: Pick<Party, 'slug' | 'mode' | 'agentId' | 'wallet'>,
  { maxPerTxUsdc = '10', dailyCapUsdc = '100', grant = {} }: PartyOptions = {},
): Promise<string> {
  const terms = { max_per_tx_usdc: maxPerTxUsdc, daily_cap_usdc: dailyCapUsdc, ...grant }
  const answer = await world.control(`/workspaces/${slug}/grants`, { mode, agent_id: agentId, wallet, ...terms })
  return answer.body.grant.id
}

export async function makeKeys(world: Hands, { slug, mode }: Party, count: number): Promise<string[]> {
  const keys: string[] = []
  for (let index = 0; index < count; index += 1) {
    keys.push((await world.control(`/workspaces/${slug}/keys`, { mode })).body.key.secret)
  }
  return keys
}

export function makeAddress(): string {
  return getAddress(`0x${randomBytes(20).toString('hex')}`)
}

/** `change` replaces members of the body; `key` and `baseUrl` the way it goes. */
export async function pay(
  world: World,
  party: Party,
  {
    key = party.key,
    baseUrl = world.baseUrl,
    ...change
  }: { key?: string; baseUrl?: string; [member: string]: unknown } = {},
): Promise<JsonAnswer> {
  const { agentId, wallet, recipient } = party
  const body = { agent_id: agentId, wallet, to: recipient, amount_usdc: '1', ...change }
  return await call(baseUrl, 'POST', '/v1/payments', { key, body })
}

export async function readPayment(world: World, { key }: Party, id: string): Promise<WirePayment> {
  const answer = await call(world.baseUrl, 'GET', `/v1/payments/${id}`, { key })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body.payment
}

export async function readAgent(world: World, { key, agentId }: Party): Promise<WireAgent> {
  const answer = await call(world.baseUrl, 'GET', `/v1/agents/${agentId}`, { key })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body.agent
}

/** As the records say, without the refresh that a GET would make. */
export async function waitForRecord(world: World, id: string, status: string, msMax?: number): Promise<void> {
  await waitFor(
    `payment ${id} is ${status}`,
    async () => (await world.query('select 1 from payments where id = $1 and status = $2', [id, status])).length === 1,
    msMax,
  )
}

/** The types of a payment's events, in order. */
export async function listPaymentEvents(world: World, id: string): Promise<string[]> {
  const rows = await world.query(
    "select type from events where data -> 'payment' ->> 'id' = $1 order by created_at, id",
    [id],
  )
  return rows.map((row) => String(row['type']))
}

/** The deposits of a wallet as their events tell them, as often as they do. */
export async function listDepositEvents(world: World, wallet: string): Promise<WireDeposit[]> {
  const rows = await world.query(
    `select data -> 'deposit' as deposit from events
      where type = 'inbound.received' and data -> 'deposit' ->> 'wallet' = $1 order by id`,
    [wallet],
  )
  return rows.map((row) => row['deposit'] as WireDeposit)
}

export async function waitForDeposits(world: World, wallet: string, count = 1): Promise<WireDeposit[]> {
  return await waitFor(`${count} deposits of ${wallet}`, async () => {
    const deposits = await listDepositEvents(world, wallet)
    return deposits.length >= count && deposits
  })
}
