import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { createWorkspace } from '../../server/src/domain/members/create-workspace.ts'
import { signUpPerson } from '../support/context/people.ts'
import { offerOf, seedBuyer } from '../support/context/seed-buyer.ts'
import { RECIPIENT, type Seed } from '../support/context/seed.ts'
import { readBody, readError, type Answer } from '../support/http-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'
import { startFakeSeller, type FakeSeller } from '../support/wires/fake-seller.ts'
import { waitFor } from '../support/wait-for.ts'

/** More than one workspace can have at the same time. */
const CALLS_OF_WORKSPACE_MAX = 150
/** So many calls are sent at once with one key: fewer than it may send in a minute, which is 30 that pay. */
const CALLS_OF_KEY = 10
const OTHERS = 8
const TRIES_MAX = 5

/** Each workspace, one after the other, takes all that it can have. */
const ATTACKS = [
  { path: '/v1/x402/check', people: 1, each: 50 },
  { path: '/v1/x402/check', people: 9, each: 1 },
  { path: '/v1/x402/pay', people: 1, each: 10 },
  { path: '/v1/x402/pay', people: 9, each: 1 },
]

/** The attackers have no wallet, no grant and no money. They only ask a seller for its price, and it never responds. */
describe('while others wait for a silent seller', () => {
  let given: TestService
  let seller: FakeSeller
  let buyers: readonly Seed[]
  const silent: ServerResponse[] = []
  before(async () => {
    given = await openTestService((config) => ({
      ...config,
      webhooksToLoopback: true,
      trustedProxies: ['127.0.0.1'],
    }))
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context)]
    const { ask } = seller
    seller.ask = (response, request) => {
      if (request.path === '/silent') silent.push(response)
      else ask(response, request)
    }
    buyers = await Promise.all(Array.from({ length: OTHERS }, async () => await seedBuyer(given)))
  })
  after(async () => {
    await seller.close()
    await given.close()
  })

  for (const { path, people, each } of ATTACKS) {
    test(`eight buyers get their goods: ${people} with ${each} workspaces each, at ${path}`, async (t) => {
      const workspaces = await seedWorkspaces(people, each)
      await buyAll(`before ${path} ${people} ${each}`)
      const before = silent.length
      const answers: Answer[] = []
      const calls: Promise<void>[] = []
      const endAttack = async (): Promise<void> => {
        for (const response of silent.splice(0)) response.destroy()
        await Promise.all(calls)
      }
      t.after(endAttack)
      for (const workspaceId of workspaces) {
        const answered = new Set<number>()
        for (let sent = 0; sent < CALLS_OF_WORKSPACE_MAX && answered.size === 0; sent += CALLS_OF_KEY) {
          const key = await issueKey(given.context, { workspaceId, mode: 'test', actor: OPERATOR })
          const batch = Array.from({ length: CALLS_OF_KEY }, async (_, index) => {
            const payer = path.endsWith('pay') ? payerFor(`attack ${sent + index}`) : {}
            const body = { url: `${seller.url}/silent`, ...payer }
            const answer = await given.call({ method: 'POST', path, key: key.secret, body })
            answers.push(answer)
            answered.add(sent + index)
          })
          calls.push(...batch)
          await waitFor('the seller or an answer', () => silent.length - before + answers.length >= calls.length)
        }
      }
      await buyAll(`during ${path} ${people} ${each}`)
      await endAttack()
      for (const answer of answers) {
        if (answer.status === 503) assert.match(readError(answer).message, /Nothing was paid/)
        else assert.equal(readError(answer).code, 'resource_unreachable')
      }
      await buyAll(`after ${path} ${people} ${each}`)
    })
  }

  /** Signs up people who each create so many workspaces. Returns the ids of the workspaces. */
  async function seedWorkspaces(people: number, each: number): Promise<string[]> {
    const { context } = given
    const workspaces: string[] = []
    for (let person = 0; person < people; person += 1) {
      const { userId } = await signUpPerson(context)
      for (let index = 0; index < each; index += 1) {
        workspaces.push((await createWorkspace(context, { userId, name: 'Many' })).workspace.id)
      }
    }
    return workspaces
  }

  /** Buys once as each of the eight, at the same time. A 503 is repeated, as a client would. */
  async function buyAll(idempotencyKey: string): Promise<void> {
    await Promise.all(
      buyers.map(async ({ key, agentId, wallet }) => {
        const body = { url: `${seller.url}/goods`, ...{ agent_id: agentId, wallet, max_amount_usdc: '0.01' } }
        let answer: Answer | undefined
        for (let tries = 0; tries < TRIES_MAX && (answer === undefined || answer.status === 503); tries += 1) {
          answer = await given.call({
            ...{ method: 'POST', path: '/v1/x402/pay', key },
            body: { ...body, idempotency_key: idempotencyKey },
          })
        }
        assert.ok(answer)
        assert.equal(readBody<{ delivery: string }>(answer, 200).delivery, 'delivered')
      }),
    )
  }
})

function payerFor(idempotencyKey: string): Record<string, unknown> {
  return {
    ...{ agent_id: 'nobody', wallet: RECIPIENT, max_amount_usdc: '1' },
    idempotency_key: idempotencyKey,
  }
}
