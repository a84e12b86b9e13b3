import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AddedServer } from '../../sandbox/src/processes/servers.ts'
import type { JsonAnswer } from '../support/http-client.ts'
import {
  createPayer,
  makeAgent,
  makeGrant,
  makeKeys,
  makeWallet,
  pay,
  type PayerFixture,
} from '../support/sandbox/payer-fixture.ts'
import { openClockFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { waitFor } from '../support/wait-for.ts'

const KEYS = 20
/** Each of these sends one payment after the other, at one of the three processes. */
const SENDERS = 12
/** How many payments are recorded before the stop, and how many requests are refused after its answer. */
const [BEFORE, AFTER] = [40, 60]

describe('a stop while agents pay at three processes', () => {
  let fixture: SandboxFixture
  const added: AddedServer[] = []
  before(async () => {
    fixture = await openClockFixture()
    for (let count = 0; count < 2; count += 1) added.push(await fixture.sandbox.addServer({ port: 0 }))
  })
  after(async () => {
    for (const server of added) await server.stop()
  })

  test('lets no payment be recorded after its answer, and leaves those that were recorded before', async () => {
    const payers = await openPayers()
    const bases = [fixture.baseUrl, ...added.map(({ baseUrl }) => baseUrl)]
    const [first = assert.fail()] = payers
    const keys = await makeKeys(fixture, first, KEYS)
    const answers: JsonAnswer[] = []
    const over = new AbortController()
    const send = async (index: number): Promise<void> => {
      const payer = payers[index % payers.length] ?? first
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        const key = keys[(index + turn * SENDERS) % keys.length] ?? first.key
        answers.push(
          await pay(fixture, payer, {
            key,
            baseUrl: bases[index % bases.length] ?? fixture.baseUrl,
            amount_usdc: '0.01',
          }),
        )
      }
    }
    const sending = Promise.all(Array.from({ length: SENDERS }, (_, index) => send(index)))
    try {
      await waitFor('payments are recorded', async () => (await count(payers)) >= BEFORE)
      const { text } = await fixture.control(`/workspaces/${first.slug}/stop`, { mode: 'test' })
      const recorded = await count(payers)
      assert.deepEqual(JSON.parse(text), { grants: payers.length })
      const from = answers.length
      await waitFor('requests are refused', () => answers.length >= from + AFTER)
      over.abort()
      await sending
      assert.equal(await count(payers), recorded, 'no payment was recorded after the answer to the stop')
      const refused = answers.filter(({ status }) => status === 404)
      for (const { body: refusal } of refused) {
        assert.deepEqual([refusal.error.code, refusal.error.details?.['reason']], ['permission_not_found', 'suspended'])
      }
      assert.ok(refused.length > 0)
      await waitFor('the payments of before are confirmed', async () => (await count(payers, 'confirmed')) === recorded)
    } finally {
      over.abort()
      await sending
    }
  })

  /** Creates a workspace with three wallets, and on each an agent with a grant. */
  async function openPayers(): Promise<PayerFixture[]> {
    const terms = { plan: 'pro', dailyCapUsdc: '1000', fundUsdc: '100' } as const
    const first = await createPayer(fixture, terms)
    const payers = [first]
    while (payers.length < 3) {
      const wallet = await makeWallet(fixture, { ...first, fundUsdc: terms.fundUsdc })
      const agentId = await makeAgent(fixture, first.key)
      const payer = { ...first, wallet, agentId }
      payers.push({ ...payer, grantId: await makeGrant(fixture, payer, terms) })
    }
    return payers
  }

  async function count(payers: readonly PayerFixture[], status: string | null = null): Promise<number> {
    const rows = await fixture.query(
      'select count(*) from payments where wallet_address = any ($1) and ($2::text is null or status = $2)',
      [payers.map(({ wallet }) => wallet), status],
    )
    return Number(rows[0]?.['count'])
  }
})
