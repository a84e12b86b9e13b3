import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import {
  exchange,
  isAlive,
  readConnection,
  refresh,
  seedConnection,
  setRole,
  stopClock,
  type SeededConnection,
} from '../../../../test/support/context/connection-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import {
  ACCESS_TOKEN_LIFETIME_SECONDS,
  CODE_FAILURES_MAX,
  CODE_RETENTION_MS,
  CODE_LIFETIME_MS,
  REFRESH_TOKEN_LIFETIME_MS,
} from './limits.ts'
import { revokeToken } from './revoke-token.ts'
import type { TokenRefusal, Tokens } from './tokens.ts'

type Ways = ReturnType<typeof stopClock>

/** One step of a client, a thief, an owner or the clock. `which` selects one of the tokens issued so far. */
type Step =
  | { readonly kind: 'exchange' | 'guess' | 'demote' | 'promote' | 'cleanUp' }
  | { readonly kind: 'refresh' | 'revokeAccess' | 'revokeRefresh'; readonly which: number }
  | { readonly kind: 'wait'; readonly milliseconds: number }

const DAY_MS = 24 * 60 * 60 * 1_000
const RUNS = 40
const STEPS_MAX = 14

const which = fc.nat({ max: 3 })
const use = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('exchange' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('guess' as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('refresh' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('revokeAccess' as const, 'revokeRefresh' as const), which }),
  },
)
const circumstance = fc.oneof(
  fc.record({ kind: fc.constantFrom('demote' as const, 'promote' as const, 'promote' as const, 'cleanUp' as const) }),
  fc.record({
    kind: fc.constant('wait' as const),
    milliseconds: fc.constantFrom(1, CODE_LIFETIME_MS - 1, 1_800_000, 3_599_999, DAY_MS, 15 * DAY_MS, 29 * DAY_MS),
  }),
)
const step: fc.Arbitrary<Step> = fc.oneof({ weight: 3, arbitrary: use }, { weight: 1, arbitrary: circumstance })

describe('a connection, by property', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('for any sequence of steps, a connection behaves as its model does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: STEPS_MAX }), async (steps) => {
        const ways = stopClock(given.context)
        const family = new TokenConnection(ways, await seedConnection(ways))
        const model = new Model(ways)
        for (const next of [{ kind: 'exchange' } as const, ...steps]) {
          const expected = model.take(next)
          const answer = await family.take(next)
          if (answer !== undefined) assert.equal(answer.kind, expected)
          assert.deepEqual(await family.readAlive(), model.readAlive())
          const { revokedBecause, currentRefreshTokens } = await family.read()
          assert.equal(revokedBecause !== null, model.isRevoked)
          assert.ok(currentRefreshTokens <= 1)
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('for any concurrent steps, a revoked connection has no working token, and no token has two successors', async () => {
    const other = given.openAnother()
    const groups = fc.array(fc.array(use, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 })
    const start = fc.constantFrom<Step[][]>([], [[{ kind: 'exchange' }]])
    const steps = fc.tuple(start, groups).map(([first, rest]): Step[][] => [...first, ...rest])
    await fc.assert(
      fc.asyncProperty(steps, async (groups) => {
        const ways = stopClock(given.context)
        const family = new TokenConnection(ways, await seedConnection(ways))
        const another = { ...ways, db: other.db }
        /** The refresh tokens that each code or refresh token was exchanged for. */
        const successors = new Map<string, Set<string>>()
        const usedTwice = new Set<string>()
        for (const group of groups) {
          const answers = await Promise.all(
            group.map(async (next, index) => {
              const taken = family.nameOf(next)
              if (taken !== null && successors.has(taken)) usedTwice.add(taken)
              const answer = await family.take(next, index % 2 === 0 ? ways : another)
              return { taken, answer }
            }),
          )
          for (const { taken, answer } of answers) {
            if (taken === null || answer?.kind !== 'issued') continue
            if (taken === family.seeded.code && successors.has(taken)) assert.fail('the code was exchanged twice')
            successors.set(taken, (successors.get(taken) ?? new Set()).add(answer.refreshToken))
          }
          for (const { size } of successors.values()) assert.equal(size, 1, 'a refresh token has two successors')
          const exchanges = group.filter(({ kind }) => kind === 'exchange').length
          if (exchanges > 1 && successors.has(family.seeded.code)) usedTwice.add(family.seeded.code)
          const { revokedBecause, currentRefreshTokens } = await family.read()
          assert.ok(currentRefreshTokens <= 1)
          if (usedTwice.size > 0) assert.ok(revokedBecause !== null, 'a second use went unnoticed')
          const alive = await family.readAlive()
          assert.ok(
            alive.every((lives) => lives === (revokedBecause === null)),
            'a token outlived its connection, or died without it',
          )
        }
        if ((await family.read()).revokedBecause === null) return
        for (const { refreshToken } of family.issued) {
          assert.equal((await refresh(ways, family.seeded, refreshToken)).kind, 'refused')
        }
      }),
      { numRuns: RUNS },
    )
  })
})

/** The real connection, and all tokens that it ever issued. */
class TokenConnection {
  readonly issued: Tokens[] = []
  readonly seeded: SeededConnection
  readonly #ways: Ways

  constructor(ways: Ways, seeded: SeededConnection) {
    this.#ways = ways
    this.seeded = seeded
  }

  /** Returns the secret that a step would use: the code, or a refresh token. */
  nameOf(next: Step): string | null {
    if (next.kind === 'exchange') return this.seeded.code
    return next.kind === 'refresh' ? (this.#pick(next.which)?.refreshToken ?? null) : null
  }

  async take(next: Step, ways: Omit<Ways, 'move'> = this.#ways): Promise<Tokens | TokenRefusal | undefined> {
    const answer = await this.#run(next, ways)
    if (answer?.kind === 'issued') this.issued.push(answer)
    return answer
  }

  async #run(next: Step, ways: Omit<Ways, 'move'>): Promise<Tokens | TokenRefusal | undefined> {
    const clientId = this.seeded.client.id
    const picked = 'which' in next ? this.#pick(next.which) : undefined
    switch (next.kind) {
      case 'exchange':
        return await exchange(ways, this.seeded)
      case 'guess':
        return await exchange(ways, this.seeded, { codeVerifier: 'a'.repeat(43) })
      case 'refresh':
        return picked && (await refresh(ways, this.seeded, picked.refreshToken))
      case 'revokeAccess':
        if (picked !== undefined) await revokeToken(ways, { token: picked.accessToken, clientId })
        return undefined
      case 'revokeRefresh':
        if (picked !== undefined) await revokeToken(ways, { token: picked.refreshToken, clientId })
        return undefined
      case 'demote':
      case 'promote':
        await setRole(ways, this.seeded.membership, next.kind === 'demote' ? 'viewer' : 'admin')
        return undefined
      case 'cleanUp':
        await cleanUpOnce(ways, 'connections')
        return undefined
      case 'wait':
        this.#ways.move(next.milliseconds)
        return undefined
    }
  }

  /** Returns for each issued access token whether it still works. */
  readAlive(): Promise<boolean[]> {
    return Promise.all(this.issued.map(({ accessToken }) => isAlive(this.#ways, accessToken)))
  }

  read() {
    return readConnection(this.#ways, this.seeded)
  }

  #pick(index: number): Tokens | undefined {
    return this.issued[this.issued.length - 1 - index]
  }
}

interface ModelToken {
  readonly accessEnd: number
  readonly refreshEnd: number
  isTaken: boolean
  isAccessDeleted: boolean
  isRefreshDeleted: boolean
}

/** A model of the rules for codes and refresh tokens, without a database (D38; specification, parts 3 and 5). */
class Model {
  readonly #ways: Ways
  readonly #codeEnd: number
  readonly #tokens: ModelToken[] = []
  isRevoked = false
  #mayConnect = true
  #codeIsTaken = false
  #codeIsDeleted = false
  #failures = 0

  constructor(ways: Ways) {
    this.#ways = ways
    this.#codeEnd = this.#now + CODE_LIFETIME_MS
  }

  get #now(): number {
    return this.#ways.clock.now().getTime()
  }

  /** Returns the kind of response that a step should get, or undefined if the step gets none. */
  take(next: Step): 'issued' | 'refused' | undefined {
    const picked = 'which' in next ? this.#tokens[this.#tokens.length - 1 - next.which] : undefined
    switch (next.kind) {
      case 'exchange':
        return this.#exchange()
      case 'guess':
        if (!this.#codeIsTaken) this.#failures += 1
        return 'refused'
      case 'refresh':
        return picked && this.#refresh(picked)
      case 'revokeAccess':
        if (picked?.isAccessDeleted === false) this.isRevoked = true
        return undefined
      case 'revokeRefresh':
        if (picked?.isRefreshDeleted === false) this.isRevoked = true
        return undefined
      case 'demote':
      case 'promote':
        this.#mayConnect = next.kind === 'promote'
        return undefined
      case 'cleanUp':
        this.#cleanUp()
        return undefined
      case 'wait':
        return undefined
    }
  }

  readAlive(): boolean[] {
    return this.#tokens.map(({ accessEnd }) => this.#isOpen && this.#now < accessEnd)
  }

  get #isOpen(): boolean {
    return !this.isRevoked && this.#mayConnect
  }

  #exchange(): 'issued' | 'refused' {
    if (this.#codeIsDeleted) return 'refused'
    if (this.#codeIsTaken) {
      this.isRevoked = true
      return 'refused'
    }
    if (!this.#isOpen || this.#now >= this.#codeEnd || this.#failures >= CODE_FAILURES_MAX) return 'refused'
    this.#codeIsTaken = true
    return this.#issue()
  }

  #refresh(token: ModelToken): 'issued' | 'refused' {
    if (token.isRefreshDeleted) return 'refused'
    if (token.isTaken) {
      this.isRevoked = true
      return 'refused'
    }
    if (!this.#isOpen || this.#now >= token.refreshEnd) return 'refused'
    token.isTaken = true
    return this.#issue()
  }

  #issue(): 'issued' {
    this.#tokens.push({
      accessEnd: this.#now + ACCESS_TOKEN_LIFETIME_SECONDS * 1_000,
      refreshEnd: this.#now + REFRESH_TOKEN_LIFETIME_MS,
      isTaken: false,
      isAccessDeleted: false,
      isRefreshDeleted: false,
    })
    return 'issued'
  }

  #cleanUp(): void {
    if (this.#now >= this.#codeEnd + CODE_RETENTION_MS) this.#codeIsDeleted = true
    for (const token of this.#tokens) {
      if (this.#now >= token.accessEnd) token.isAccessDeleted = true
      if (this.#now >= token.refreshEnd) token.isRefreshDeleted = true
    }
  }
}
