import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import {
  endUses,
  exchange,
  isAlive,
  issued,
  readConnection,
  refresh,
  seedConnection,
  seedTokens,
  setRole,
  type ConnectedClient,
} from '../../../../test/support/context/connection-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { startRoundTripCounter } from '../../../../test/support/database/round-trip-counter.ts'
import { startStatementGate } from '../../../../test/support/database/statement-gate.ts'
import { Database } from '../../db/database.ts'
import { CommitUnknown } from '../../db/errors.ts'
import { createLogger } from '../../lib/logger.ts'
import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { revokeToken } from './revoke-token.ts'
import type { TokenRefusal, Tokens } from './tokens.ts'

const TOGETHER = 20
const RUNS = 12

type Request = (ctx: Ways) => Promise<Tokens | TokenRefusal>
type Ways = Pick<Context, 'db' | 'deferredWrites' | 'clock' | 'cell' | 'successorKey'>

/** Each function prepares a connection, and returns the requests that are then made with it. */
const SITUATIONS: Readonly<Record<string, (ctx: Ways, seeded: ConnectedClient) => Promise<readonly Request[]>>> = {
  'a refresh': async (_ctx, seeded) => [(ctx) => refresh(ctx, seeded, seeded.tokens.refreshToken)],
  'a refresh with a used token': async (ctx, seeded) => {
    issued(await refresh(ctx, seeded, seeded.tokens.refreshToken))
    return [(other) => refresh(other, seeded, seeded.tokens.refreshToken)]
  },
  'a refresh for fewer scopes': async (_ctx, seeded) => [
    (ctx) => refresh(ctx, seeded, seeded.tokens.refreshToken, { scopes: ['wallet:read'] }),
  ],
  'a refresh for no scopes': async (_ctx, seeded) => [
    (ctx) => refresh(ctx, seeded, seeded.tokens.refreshToken, { scopes: [] }),
  ],
  'a refresh for another resource': async (_ctx, seeded) => [
    (ctx) => refresh(ctx, seeded, seeded.tokens.refreshToken, { resource: 'https://other.example' }),
  ],
  'a refresh by another client': async (_ctx, seeded) => [
    (ctx) => refresh(ctx, seeded, seeded.tokens.refreshToken, { clientId: 'cli_other' }),
  ],
  'a refresh with an unknown token': async (_ctx, seeded) => [
    (ctx) => refresh(ctx, seeded, createSecret(SECRET_PREFIXES.refreshToken)),
  ],
  'a refresh with an expired token': async (ctx, seeded) => {
    await readRows(ctx.db, 'update refresh_tokens set expires_at = created_at where workspace_id = $1', [
      seeded.membership.workspace.id,
    ])
    return [(other) => refresh(other, seeded, seeded.tokens.refreshToken)]
  },
  'a refresh after a revocation': async (ctx, seeded) => {
    await revokeToken(ctx, { token: seeded.tokens.accessToken, clientId: null })
    return [(other) => refresh(other, seeded, seeded.tokens.refreshToken)]
  },
  'a refresh after the user became a viewer': async (ctx, seeded) => {
    await setRole(ctx, seeded.membership, 'viewer')
    return [(other) => refresh(other, seeded, seeded.tokens.refreshToken)]
  },
  'a second exchange of a code': async (_ctx, seeded) => [(ctx) => exchange(ctx, seeded)],
}

/** Like `SITUATIONS`, but the code of the connection was not exchanged yet. */
const CODE_SITUATIONS: Readonly<Record<string, (ctx: Ways, seeded: Seeded) => Promise<readonly Request[]>>> = {
  'an exchange': async (_ctx, seeded) => [(ctx) => exchange(ctx, seeded)],
  'two exchanges of one code': async (_ctx, seeded) => {
    const request: Request = (ctx) => exchange(ctx, seeded)
    return [request, request]
  },
  'an exchange with a wrong verifier': async (_ctx, seeded) => [
    (ctx) => exchange(ctx, seeded, { codeVerifier: 'a'.repeat(43) }),
  ],
  'an exchange with a wrong redirect URI': async (_ctx, seeded) => [
    (ctx) => exchange(ctx, seeded, { redirectUri: 'https://client.example/other' }),
  ],
  'an exchange for another resource': async (_ctx, seeded) => [
    (ctx) => exchange(ctx, seeded, { resource: 'https://other.example' }),
  ],
}

type Seeded = Awaited<ReturnType<typeof seedConnection>>

interface Prepared {
  readonly seeded: Seeded
  readonly requests: readonly Request[]
}

describe('refreshes and exchanges that arrive together', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('share a statement', async () => {
    const counter = await startRoundTripCounter(given.config.database.url)
    const db = new Database({ ...given.config.database, url: counter.url }, createLogger('silent'))
    try {
      const seeded = await seedMany(TOGETHER + 1)
      const [first, ...others] = seeded.map((one) => () => refresh({ ...ctx, db }, one, one.tokens.refreshToken))
      issued((await first?.()) ?? assert.fail())
      const before = counter.count()
      const answers = await Promise.all(others.map((request) => request()))
      assert.equal(counter.count() - before, 1)
      assert.equal(new Set(answers.map((answer) => issued(answer).refreshToken)).size, TOGETHER)
    } finally {
      await db.close()
      await counter.close()
    }
  })

  test('share a statement also if they have the same refresh token', async () => {
    const counter = await startRoundTripCounter(given.config.database.url)
    const db = new Database({ ...given.config.database, url: counter.url }, createLogger('silent'))
    try {
      const [first, second] = await seedMany(2)
      assert.ok(first !== undefined && second !== undefined)
      issued(await refresh({ ...ctx, db }, first, first.tokens.refreshToken))
      const before = counter.count()
      const requests = Array.from({ length: TOGETHER }, () =>
        refresh({ ...ctx, db }, second, second.tokens.refreshToken),
      )
      const answers = await Promise.all(requests)
      assert.equal(counter.count() - before, 1)
      assert.equal(new Set(answers.map((answer) => issued(answer).refreshToken)).size, 1)
    } finally {
      await db.close()
      await counter.close()
    }
  })

  test('get the same responses as one after the other, whatever the others are', async () => {
    const names = [...Object.keys(SITUATIONS), ...Object.keys(CODE_SITUATIONS)]
    const mix = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: TOGETHER })
    await fc.assert(
      fc.asyncProperty(mix, async (situations) => {
        const [apart, together] = await Promise.all([prepareAll(situations), prepareAll(situations)])
        for (const { requests } of apart) for (const request of requests) await request(ctx)
        await Promise.all(together.flatMap(({ requests }) => requests.map((request) => request(ctx))))
        const [expected, actual] = [await Promise.all(apart.map(readState)), await Promise.all(together.map(readState))]
        situations.forEach((name, index) => assert.deepEqual(actual[index], expected[index], name))
      }),
      { numRuns: RUNS, examples: [[names]] },
    )
  })

  test('every caller gets its own response', async () => {
    const seeded = await seedMany(TOGETHER)
    const answers = await Promise.all(
      seeded.map((one, index) =>
        refresh(ctx, one, one.tokens.refreshToken, index % 3 === 0 ? { clientId: 'cli_other' } : {}),
      ),
    )
    for (const [index, answer] of answers.entries()) {
      const one = seeded[index] ?? assert.fail()
      if (index % 3 === 0) {
        assert.deepEqual([answer.kind, 'error' in answer && answer.error], ['refused', 'invalid_grant'])
        continue
      }
      // The new refresh token belongs to the caller's own client and connection.
      const next = issued(answer)
      assert.ok(await isAlive(ctx, next.accessToken))
      assert.equal((await refresh(ctx, one, next.refreshToken)).kind, 'issued')
      assert.equal((await readConnection(ctx, one)).revokedBecause, null)
    }
  })

  test('are not held up by one whose connection is locked, and that one continues afterwards', async () => {
    const [locked, ...others] = await seedMany(TOGETHER)
    assert.ok(locked !== undefined)
    const over: string[] = []
    const waiting = await ctx.db.transaction(async (transaction) => {
      await transaction.run({
        name: '',
        text: 'select 1 from connections where workspace_id = $1 for no key update',
        values: [locked.membership.workspace.id],
        read: () => null,
      })
      const blocked = refresh(ctx, locked, locked.tokens.refreshToken).finally(() => over.push('locked'))
      const free = others.map((one) => refresh(ctx, one, one.tokens.refreshToken))
      for (const answer of await Promise.all(free)) issued(answer)
      assert.deepEqual(over, [])
      return [blocked]
    })
    issued(await Promise.any(waiting))
  })

  test('do not fail because of one that the database rejects', async () => {
    const [broken, ...others] = await seedMany(TOGETHER)
    assert.ok(broken !== undefined)
    const workspace = broken.membership.workspace.id
    await readRows(
      ctx.db,
      `create function reject_row() returns trigger language plpgsql as $$
        begin raise exception using errcode = '22012'; end $$`,
    )
    await readRows(
      ctx.db,
      `create trigger reject_workspace before insert on refresh_tokens for each row
        when (new.workspace_id = '${workspace}') execute function reject_row()`,
    )
    const [failed, ...answers] = await Promise.allSettled(
      [broken, ...others].map((one) => refresh(ctx, one, one.tokens.refreshToken)),
    )
    await readRows(ctx.db, 'drop trigger reject_workspace on refresh_tokens')
    assert.ok(failed?.status === 'rejected' && (failed.reason as { code: string }).code === '22012')
    for (const answer of answers) assert.equal(answer.status === 'fulfilled' && answer.value.kind, 'issued')
    // Nothing was changed for the request that failed.
    issued(await refresh(ctx, broken, broken.tokens.refreshToken))
  })

  for (const side of ['request', 'answer'] as const) {
    test(`get an error if the connection is lost before the ${side}, and no token is ever valid twice`, async () => {
      const gate = await startStatementGate(given.config.database.url)
      const db = new Database({ ...given.config.database, url: gate.url }, createLogger('silent'))
      try {
        const seeded = await seedMany(TOGETHER)
        const { held } = gate.hold('take_refresh_tokens_and_issue', side)
        const answers = Promise.allSettled(seeded.map((one) => refresh({ ...ctx, db }, one, one.tokens.refreshToken)))
        await held
        gate.cut()
        for (const answer of await answers) {
          assert.ok(answer.status === 'rejected' && answer.reason instanceof CommitUnknown)
        }
        if (side === 'answer') await endUses(ctx)
        // A client that did not get its tokens tries again.
        const again = await Promise.all(seeded.map((one) => refresh(ctx, one, one.tokens.refreshToken)))
        for (const answer of again) assert.equal(answer.kind, side === 'request' ? 'issued' : 'refused')
        const because = side === 'request' ? null : 'refresh_reuse'
        for (const one of seeded) assert.equal((await readConnection(ctx, one)).revokedBecause, because)
      } finally {
        await db.close()
        await gate.close()
      }
    })
  }

  async function seedMany(count: number): Promise<ConnectedClient[]> {
    return await Promise.all(Array.from({ length: count }, () => seedTokens(ctx)))
  }

  function prepareAll(situations: readonly string[]): Promise<Prepared[]> {
    return Promise.all(
      situations.map(async (name) => {
        const prepareCode = CODE_SITUATIONS[name]
        if (prepareCode !== undefined) {
          const seeded = await seedConnection(ctx)
          return { seeded, requests: recordAnswers(seeded, await prepareCode(ctx, seeded)) }
        }
        const seeded = await seedTokens(ctx)
        return { seeded, requests: recordAnswers(seeded, (await SITUATIONS[name]?.(ctx, seeded)) ?? assert.fail()) }
      }),
    )
  }

  const answersOf = new Map<Seeded, (Tokens | TokenRefusal)[]>()

  function recordAnswers(seeded: Seeded, requests: readonly Request[]): Request[] {
    const answers: (Tokens | TokenRefusal)[] = []
    answersOf.set(seeded, answers)
    return requests.map((request) => async (ways) => {
      const answer = await request(ways)
      answers.push(answer)
      return answer
    })
  }

  /** Returns the responses without their random values, and what is stored for the connection. */
  async function readState({ seeded }: Prepared) {
    const answers = answersOf.get(seeded) ?? []
    const workspace = [seeded.membership.workspace.id]
    const [connection, codes, tokens, alive] = await Promise.all([
      readConnection(ctx, seeded),
      readRows(
        ctx.db,
        'select taken_at is null as unused, failures from authorization_codes where workspace_id = $1',
        workspace,
      ),
      readRows(
        ctx.db,
        `select t.scopes, c.connected_at is null as unconnected from access_tokens t
          join connections c on c.workspace_id = t.workspace_id and c.id = t.connection_id
          where t.workspace_id = $1 order by cardinality(t.scopes)`,
        workspace,
      ),
      Promise.all(answers.map(async (answer) => answer.kind === 'issued' && (await isAlive(ctx, answer.accessToken)))),
    ])
    const { revokedBecause, currentRefreshTokens } = connection
    const told = answers.map((answer) => (answer.kind === 'issued' ? answer.scopes.join(' ') : answer.description))
    return { told, alive, revokedBecause, currentRefreshTokens, codes, tokens }
  }
})
