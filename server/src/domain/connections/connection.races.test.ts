import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  exchange,
  isAlive,
  issued,
  readConnection,
  refresh,
  seedConnection,
  seedTokens,
  type ConnectedClient,
} from '../../../../test/support/context/connection-rows.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { revokeConnection } from './revoke-connection.ts'
import { revokeToken } from './revoke-token.ts'
import type { TokenRefusal, Tokens } from './tokens.ts'

const CONNECTIONS_EACH = 25
const RACERS = 50
const ROUNDS = 5

describe('a connection under races, over two processes', () => {
  let given: TestContext
  let processes: readonly [Context, Context]
  before(async () => {
    given = await openTestContext((config) => ({
      ...config,
      database: { ...config.database, connectionsMax: CONNECTIONS_EACH },
    }))
    processes = [given.context, given.openAnother()]
    // All database connections are opened before a race. Otherwise the statements of the race would run one after the
    // other on the first connection.
    const sleeps = processes.flatMap(({ db }) =>
      Array.from({ length: CONNECTIONS_EACH }, () => readRows(db, 'select pg_sleep(0.2)')),
    )
    await Promise.all(sleeps)
  })
  after(() => given.close())

  test('of 50 concurrent exchanges of one code exactly one succeeds, and its tokens are revoked afterwards', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const seeded = await seedConnection(given.context)
      const answers = await race((process) => exchange(process, seeded))
      const winner = checkOneWinner(answers)
      await checkDead(seeded, [winner])
      assert.equal((await readConnection(given.context, seeded)).revokedBecause, 'code_replay')
    }
  })

  test('50 concurrent refreshes with one token are one use, and get the same tokens (D38a)', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const seeded = await seedTokens(given.context)
      const answers = await race((process) => refresh(process, seeded, seeded.tokens.refreshToken))
      const [first, ...others] = answers.map(issued)
      assert.ok(first !== undefined)
      for (const other of others) assert.deepEqual(other, first)
      for (const process of processes) assert.ok(await isAlive(process, first.accessToken))
      const { revokedBecause, currentRefreshTokens } = await readConnection(given.context, seeded)
      assert.deepEqual([revokedBecause, currentRefreshTokens], [null, 1])
      assert.equal((await refresh(given.context, seeded, seeded.tokens.refreshToken)).kind, 'refused')
      await checkDead(seeded, [seeded.tokens, first])
    }
  })

  test('of 50 concurrent refreshes of which half ask for fewer scopes, one half succeeds, and the connection is revoked', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const seeded = await seedTokens(given.context)
      const answers = await race((process, index) =>
        refresh(process, seeded, seeded.tokens.refreshToken, index % 4 < 2 ? {} : { scopes: ['wallet:read'] }),
      )
      const won = answers.filter((answer) => answer.kind === 'issued')
      assert.equal(new Set(won.map(({ refreshToken }) => refreshToken)).size, 1)
      await checkDead(seeded, [seeded.tokens, ...won.slice(0, 1)])
      assert.equal((await readConnection(given.context, seeded)).revokedBecause, 'refresh_reuse')
    }
  })

  test('of 50 concurrent exchanges with a wrong verifier five are counted, and then the code no longer works', async () => {
    const seeded = await seedConnection(given.context)
    await race((process) => exchange(process, seeded, { codeVerifier: 'a'.repeat(43) }))
    const rows = await readRows(given.context.db, 'select failures from authorization_codes where workspace_id = $1', [
      seeded.membership.workspace.id,
    ])
    assert.deepEqual(rows, [{ failures: 5 }])
    assert.equal((await exchange(given.context, seeded)).kind, 'refused')
  })

  test('a revocation during a refresh also revokes the tokens that the refresh issues', async () => {
    const seeded = await seedTokens(given.context)
    const [refreshed] = await inOrder(seeded, [
      () => refresh(processes[0], seeded, seeded.tokens.refreshToken),
      () => revokeToken(processes[1], { token: seeded.tokens.accessToken, clientId: seeded.client.id }),
    ])
    await checkDead(seeded, [seeded.tokens, issued(refreshed as Tokens | TokenRefusal)])
  })

  test('a refresh during a revocation is rejected', async () => {
    const seeded = await seedTokens(given.context)
    const [, refreshed] = await inOrder(seeded, [
      () => revokeToken(processes[1], { token: seeded.tokens.refreshToken, clientId: seeded.client.id }),
      () => refresh(processes[0], seeded, seeded.tokens.refreshToken),
    ])
    assert.equal((refreshed as Tokens | TokenRefusal).kind, 'refused')
    await checkDead(seeded, [seeded.tokens])
  })

  test('a code exchanged while its connection is being revoked gives no working token, in either order', async () => {
    for (const exchangeFirst of [true, false]) {
      const seeded = await seedConnection(given.context)
      const { id } = await readConnection(given.context, seeded)
      const workspaceId = seeded.membership.workspace.id
      const steps = [
        () => exchange(processes[0], seeded),
        () => revokeConnection(processes[1], { workspaceId, id, actor: OPERATOR }),
      ]
      const answers = await inOrder(seeded, exchangeFirst ? steps : steps.toReversed())
      const exchanged = answers[exchangeFirst ? 0 : 1] as Tokens | TokenRefusal
      assert.equal(exchanged.kind, exchangeFirst ? 'issued' : 'refused')
      if (exchanged.kind === 'issued') await checkDead(seeded, [exchanged])
      assert.equal((await readConnection(given.context, seeded)).revokedBecause, 'user')
    }
  })

  test('after concurrent refreshes and revocations in any order, no token works', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const seeded = await seedTokens(given.context)
      const { client, tokens } = seeded
      const { id } = await readConnection(given.context, seeded)
      const steps = [
        (process: Context) => refresh(process, seeded, tokens.refreshToken),
        (process: Context) => revokeToken(process, { token: tokens.accessToken, clientId: client.id }),
        (process: Context) => revokeToken(process, { token: tokens.refreshToken, clientId: client.id }),
        (process: Context) => exchange(process, seeded),
        (process: Context) =>
          revokeConnection(process, { workspaceId: seeded.membership.workspace.id, id, actor: OPERATOR }),
      ]
      const answers = await race((process, index) => (steps[(index + round) % steps.length] ?? steps[0])?.(process))
      const won = answers.flatMap((answer) => (answer?.kind === 'issued' ? [answer] : []))
      assert.ok(new Set(won.map(({ refreshToken }) => refreshToken)).size <= 1)
      await checkDead(seeded, [tokens, ...won.slice(0, 1)])
    }
  })

  test('two concurrent refreshes with two tokens of one connection never leave two usable refresh tokens', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const seeded = await seedTokens(given.context)
      const second = issued(await refresh(given.context, seeded, seeded.tokens.refreshToken))
      const answers = await race((process, index) =>
        refresh(process, seeded, (index === 0 ? second : seeded.tokens).refreshToken),
      )
      const won = answers.flatMap((answer) => (answer.kind === 'issued' ? [answer] : []))
      assert.ok(won.length <= 1)
      await checkDead(seeded, [seeded.tokens, second, ...won])
    }
  })

  function race<Answer>(run: (process: Context, index: number) => Answer): Promise<Awaited<Answer>[]> {
    return Promise.all(Array.from({ length: RACERS }, (_, index) => run(processes[index % 2 === 0 ? 0 : 1], index)))
  }

  function checkOneWinner(answers: readonly (Tokens | TokenRefusal)[]): Tokens {
    const winners = answers.flatMap((answer) => (answer.kind === 'issued' ? [answer] : []))
    const errors = new Set(answers.flatMap((answer) => (answer.kind === 'refused' ? [answer.error] : [])))
    assert.equal(winners.length, 1)
    assert.deepEqual([...errors], ['invalid_grant'])
    const [winner] = winners
    if (winner === undefined) throw new Error('there is one')
    return winner
  }

  async function checkDead(seeded: Pick<ConnectedClient, 'client' | 'membership'>, all: readonly Tokens[]) {
    for (const { accessToken, refreshToken } of all) {
      for (const process of processes) assert.equal(await isAlive(process, accessToken), false)
      assert.equal((await refresh(given.context, seeded, refreshToken)).kind, 'refused')
    }
    assert.ok((await readConnection(given.context, seeded)).revokedBecause !== null)
  }

  /**
   * Starts each step as soon as the step before it waits for the connection's lock. Then lets the steps continue in
   * that order.
   */
  async function inOrder(
    { membership }: Pick<ConnectedClient, 'membership'>,
    steps: readonly (() => Promise<unknown>)[],
  ): Promise<unknown[]> {
    const started: Promise<unknown>[] = []
    await given.context.db.transaction(async (transaction) => {
      await transaction.run({
        name: '',
        text: 'select 1 from connections where workspace_id = $1 for no key update',
        values: [membership.workspace.id],
        read: () => null,
      })
      for (const step of steps) {
        started.push(step())
        await waitFor('it waits for the lock', async () => (await countWaiting()) === started.length)
      }
    })
    return await Promise.all(started)
  }

  async function countWaiting(): Promise<number> {
    const rows = await readRows(
      given.context.db,
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length
  }
})
