import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { readBody, readError, type Answer, type Call } from '../support/http-client.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'
import { ANY_CHARACTER } from '../support/any-character.ts'

const RUNS = 150
/**
 * Fewer requests than the smallest rate limit, so that the limiter never rejects a request before the tested code runs.
 */
const REQUESTS_PER_KEY = 25

const text = fc.string({ unit: ANY_CHARACTER, maxLength: 80 })
const json = fc.jsonValue({ maxDepth: 3 })
const member = fc.oneof(text, json, fc.constantFrom('1', '0.000001', '..', null, 10 ** 21))
const headerText = fc.stringMatching(/^[\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff]{0,60}[\x21-\x7e\x80-\xff])?$/)
const headers = fc.array(
  fc.tuple(
    fc.constantFrom('accept', 'accept-encoding', 'accept-version', 'content-encoding', 'cookie', 'expect', 'if-match'),
    headerText,
  ),
  { maxLength: 3 },
)

describe('random requests', () => {
  let given: TestService
  let seeded: Seed
  let key: string
  let requests = 0
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context, { plan: 'scale' })
  })
  after(() => given.close())

  for (const path of ['/v1/agents', '/v1/payments']) {
    test(`${path} responds to any bytes, JSON and headers with 201 or a well-formed 4xx`, async () => {
      const body = fc.oneof(fc.uint8Array({ maxLength: 300 }), text, json)
      await hold(
        fc.record({ body, headers, type: fc.constantFrom('application/json', 'application/json; charset=x') }),
        path,
      )
    })
  }

  test('/v1/payments responds to a complete body with one odd member with 201 or a well-formed 4xx', async () => {
    const names = ['agent_id', 'wallet', 'to', 'amount_usdc', 'memo', 'idempotency_key', 'mode', '__proto__']
    const body = fc
      .tuple(fc.constantFrom(...names), member)
      .map(([name, value]) =>
        JSON.stringify(Object.fromEntries([...Object.entries(paymentBody(seeded)), [name, value]])),
      )
    await hold(fc.record({ body, headers, type: fc.constant('application/json') }), '/v1/payments')
  })

  test('/v1/agents and /v1/payments respond to any id in their path with 200, 404 or a well-formed 4xx', async () => {
    const id = fc.oneof(
      text.filter((id) => id.isWellFormed()).map(encodeURIComponent),
      fc.stringMatching(/^[!-~]{0,40}$/),
    )
    const path = fc.tuple(fc.constantFrom('agents', 'payments'), id).map(([noun, id]) => `/v1/${noun}/${id}`)
    await fc.assert(
      fc.asyncProperty(path, async (path) => {
        const answer = await given.call({ path: path.replaceAll('#', '%23'), key: await takeKey() })
        if (answer.status !== 200) expectProblem(answer)
      }),
      { numRuns: RUNS },
    )
  })

  async function hold(
    calls: fc.Arbitrary<{ body: unknown; headers: [string, string][]; type: string }>,
    path: string,
  ): Promise<void> {
    await fc.assert(
      fc.asyncProperty(calls, async ({ body, headers, type }) => {
        const call: Call = { path, key: await takeKey(), headers: headers.flat(), body, type }
        const answer = await given.call(call)
        if (answer.status === 201) readBody(answer, 201)
        else expectProblem(answer)
      }),
      { numRuns: RUNS },
    )
  }

  async function takeKey(): Promise<string> {
    if (requests % REQUESTS_PER_KEY === 0) key = await given.issueKey(seeded)
    requests += 1
    return key
  }
})

function expectProblem(answer: Answer): void {
  readError(answer)
  assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.text}`)
  assert.notEqual(answer.status, 429)
}
