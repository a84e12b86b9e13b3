import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AddedServer } from '../../sandbox/src/processes/servers.ts'
import { readConfig } from '../../server/src/config.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../../server/src/domain/wallets/signing-fence.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import { makeTerms, openActive, openOwned, type Owned } from '../support/context/grant-fixture.ts'
import { signRecord } from '../support/context/owner-fixture.ts'
import { justProved } from '../support/context/people.ts'
import { RECIPIENT } from '../support/context/seed.ts'
import { call } from '../support/http-client.ts'
import { runProgram } from '../support/sandbox/run-program.ts'
import { openSandboxFixture, type OwnSandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { waitFor } from '../support/wait-for.ts'
import { exportFile } from './proven-payments.ts'
import type { Given } from './python-verifier.ts'
import { openVerifiers, type Verifiers } from './verifiers.ts'

const PROGRAM = 'server/src/move-workspace/main.ts'
const FIRST_CELL = 'eu1'
const CELL = 'eu2'

/** Two cells in one database, each with a server process and a log of its own (D95). */
describe('the evidence of a workspace that moves', () => {
  let fixture: OwnSandboxFixture
  let other: AddedServer | undefined
  let verifiers: Verifiers
  let owned: Owned
  let key: string
  let given: Given
  before(async () => {
    fixture = await openSandboxFixture()
    verifiers = openVerifiers()
    const { context, close } = openContext(readConfig(fixture.environment()), {
      clock: createClock(),
      logger: createLogger('silent'),
    })
    owned = await openOwned(context)
    const { workspaceId, mode, wallet, actor } = owned
    await fixture.control('/faucet', { mode, address: wallet.address, amount_usdc: '100' })
    await signRecord(context, owned)
    await openActive(context, owned, makeTerms(5))
    const maker = { kind: 'user', id: actor.id, ...justProved(context) } as const
    key = (await issueKey(context, { workspaceId, mode, actor: maker })).secret
    await close()
    // After this time nobody can use the signatures again, and a server that starts decrypts them.
    await fixture.advanceClock((SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS) / 1_000 + 1)
    await fixture.sandbox.killServer('SIGTERM')
    await fixture.sandbox.startServer()
    for (const statement of [
      `create role ${CELL} login password 'secret'`,
      `create schema ${CELL} authorization ${CELL}`,
      `alter role ${CELL} set search_path = ${CELL}`,
    ]) {
      await fixture.query(statement)
    }
    // The sandbox's file contains the checkpoint of the other log.
    const env = { DATABASE_URL: otherUrl(), CELL, LOG_CHECKPOINT_FILE: '' }
    other = await fixture.sandbox.addServer({ port: 0, env })
    const logKeys = [await readLogKey(fixture.baseUrl)]
    given = { ownerKeys: [owned.owner.publicKeySpki], logKeys, rpc: fixture.sandbox.facts.chains.test.rpc_url }
  })
  after(async () => {
    await verifiers.close()
    await other?.stop()
    await fixture.close()
  })

  test('what was paid before, and what is paid afterwards, is proved by the logs of both cells', async () => {
    const otherCell = other?.baseUrl ?? assert.fail()
    const before = await pay(fixture.baseUrl)
    const exported = await exportFrom(fixture.baseUrl, before)
    await verify(exported, before, [1])

    await move({ from: fixture.databaseUrl, to: otherUrl(), cell: CELL })
    await verify(exported, before, [1])
    const later = await pay(otherCell)
    given = { ...given, logKeys: [...(given.logKeys ?? []), await readLogKey(otherCell)] }
    const [carried, mixed] = [await exportFrom(otherCell, before), await exportFrom(otherCell, later)]
    assert.deepEqual(leavesOf(carried).at(-1), 0, 'the new cell has no leaf of this payment, but seals the file')
    await verify(carried, before, [1, 0])
    await verify(mixed, later, [1, 1])

    await move({ from: otherUrl(), to: fixture.databaseUrl, cell: FIRST_CELL })
    const last = await pay(fixture.baseUrl)
    await verify(await exportFrom(fixture.baseUrl, before), before, [1, 0])
    await verify(await exportFrom(fixture.baseUrl, later), later, [1, 1, 0])
    await verify(await exportFrom(fixture.baseUrl, last), last, [1, 1])
    for (const [file, id] of [
      [exported, before],
      [carried, before],
      [mixed, later],
    ] as const) {
      await verify(file, id, null)
    }
  })

  /** Verifies a file. `logs` says which of its logs have leaves. */
  async function verify(file: string, payment: string, logs: readonly number[] | null): Promise<void> {
    if (logs !== null)
      assert.deepEqual(
        leavesOf(file).map((count) => Math.min(count, 1)),
        logs,
      )
    const yes = { owner_signed: 'yes', within_limits: 'yes', on_chain: 'yes' }
    assert.deepEqual(await verifiers.verify(file, given), { valid: true, payment, ...yes })
  }

  /** Returns how many leaves of each log a file has. */
  function leavesOf(file: string): number[] {
    return (JSON.parse(file) as { logs: { leaves: unknown[] }[] }).logs.map(({ leaves }) => leaves.length)
  }

  async function pay(baseUrl: string): Promise<string> {
    const { agentId, wallet } = owned
    const body = { agent_id: agentId, wallet: wallet.address, to: RECIPIENT, amount_usdc: '1' }
    const { status, text } = await call(baseUrl, 'POST', '/v1/payments', { key, body })
    assert.equal(status, 201, text)
    return (JSON.parse(text) as { payment: { id: string } }).payment.id
  }

  async function exportFrom(baseUrl: string, id: string): Promise<string> {
    return await waitFor('the evidence', () => exportFile({ baseUrl }, { key, id }))
  }

  async function readLogKey(baseUrl: string): Promise<string> {
    const { text } = await call(baseUrl, 'GET', '/.well-known/bursar-log.json', {})
    return (JSON.parse(text) as { verifier_key: string }).verifier_key
  }

  async function move({ from, to, cell }: { from: string; to: string; cell: string }): Promise<void> {
    const env = { DATABASE_URL: from, TO_DATABASE_URL: to }
    const { exitCode, output } = await runProgram(PROGRAM, { args: [owned.workspaceId, '--cell', cell], env })
    assert.equal(exitCode, 0, output)
  }

  function otherUrl(): string {
    const url = new URL(fixture.databaseUrl)
    url.username = CELL
    url.password = 'secret'
    return url.href
  }
})
