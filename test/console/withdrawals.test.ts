import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import type { Role } from '../../server/src/values/role.ts'
import { listRecentChanges } from '../../server/src/domain/reports/changes/list-recent-changes.ts'
import { seedPayment } from '../support/context/payment-rows.ts'
import { addWalletOwner, answer } from '../support/context/people.ts'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { insertOwner } from '../../server/src/domain/wallets/wallet-owners-store.ts'
import { readRows } from '../support/database/read-rows.ts'
import { expectError, send } from '../support/http-client.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import type { Browser } from './browser.ts'
import { openVisitor } from './person.ts'

type Wire = Readonly<Record<string, unknown>>
interface Issued {
  readonly request_id: string
  readonly request: { readonly payload: string }
  readonly [member: string]: unknown
}

describe('withdrawals in the dashboard', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer()
  })
  after(() => server.close())

  test('an admin prepares a withdrawal, the owner signs, and it is listed among the payments', async () => {
    const { seeded, browser, at, owner } = await open('admin')
    const issued = await issue(seeded, browser)
    assert.deepEqual(Object.keys(issued).toSorted(), [
      'amount_usdc',
      'balance_usdc',
      'pending_usdc',
      'request',
      'request_id',
    ])
    assert.deepEqual([issued['amount_usdc'], issued['pending_usdc']], ['1.50', '0'])
    const body = { response: answer(owner, { challenge: issued.request.payload }) }
    const { payment } = await browser.ask<{ payment: Wire }>(
      'POST',
      at(`withdrawals/${issued.request_id}/signature`),
      body,
    )
    const { kind, status, agent_id, grant_id, amount_usdc, from, to, memo, idempotency_key } = payment
    assert.deepEqual(
      { kind, status, agent_id, grant_id, amount_usdc, from, to, memo, idempotency_key },
      {
        ...{ kind: 'withdrawal', status: 'pending', agent_id: null, grant_id: null, amount_usdc: '1.50' },
        ...{ from: seeded.wallet, to: RECIPIENT, memo: null, idempotency_key: null },
      },
    )
    const { payments } = await browser.ask<{ payments: Wire[] }>('GET', `${at('payments')}?mode=test`)
    assert.deepEqual(payments, [{ ...payment, purchase: null }])
    const id = String(payment['id'])
    const detail = await browser.ask<{ payment: Wire; grant: null; events: Wire[] }>(
      'GET',
      `${at(`payments/${id}`)}?mode=test`,
    )
    assert.deepEqual(
      [detail.grant, detail.events, detail.payment['limits'], detail.payment['credential']],
      [null, [], null, null],
    )
    assert.deepEqual(detail.payment['signed_by'], { name: 'Ada', former: false })
    const csv = await browser.call('GET', `${at('payments/export')}?mode=test`)
    const [head = '', line = ''] = csv.text.split('\r\n')
    const cells = line.split(',')
    const cellOf = (name: string) => cells[head.split(',').indexOf(name)]
    assert.deepEqual([cells[0], cellOf('kind'), cellOf('agent_id'), cellOf('grant_id')], [id, 'withdrawal', '', ''])
    const query = 'mode=test&period=today&zone=UTC&by=agent'
    const { spending } = await browser.ask<{ spending: Wire }>('GET', `${at('overview/spending')}?${query}`)
    assert.deepEqual([spending['withdrawn_usdc'], spending['spent_usdc'], spending['agents']], ['1.5', '0', []])

    // A withdrawal is not a payment of an agent, so no credential of an agent can read it.
    const read = await send(server.url, { method: 'GET', path: `/v1/payments/${id}`, key: seeded.key })
    expectError(read, { status: 404, type: 'not_found' })
    const place = { workspaceId: seeded.workspace.id, mode: 'test' } as const
    const changes = await listRecentChanges(server.context, { places: [place, { ...place, mode: 'live' }] })
    assert.deepEqual(
      changes.map((change) => [change.kind, change.mode]),
      Array.from({ length: 2 }, () => ['payments', 'test']),
    )
  })

  test('only admins can prepare and submit withdrawals, and only in their own workspace', async () => {
    const { seeded, browser, owner } = await open('admin')
    const viewer = await open('viewer', seeded)
    const stranger = await open('owner')
    const issued = await issue(seeded, browser)
    const path = `withdrawals/${issued.request_id}/signature`
    const body = { response: answer(owner, { challenge: issued.request.payload }) }
    const forbidden = { status: 403, type: 'forbidden', code: 'role_insufficient' } as const
    await viewer.browser.refuse('POST', viewer.at('withdrawals'), forbidden, wanted(seeded))
    await viewer.browser.refuse('POST', viewer.at(path), forbidden, body)
    const missing = { status: 404, type: 'not_found', code: 'withdrawal_not_found' } as const
    await stranger.browser.refuse('POST', stranger.at(path), missing, body)
    const noWallet = { status: 404, type: 'not_found', code: 'wallet_not_found' } as const
    await stranger.browser.refuse('POST', stranger.at('withdrawals'), noWallet, wanted(seeded))
    await browser.refuse('POST', viewer.at('withdrawals'), noWallet, { ...wanted(seeded), mode: 'live' })
  })

  test('malformed input is rejected by the member’s name, and nothing is stored', async () => {
    const { seeded, browser, at } = await open('admin')
    const faults = [
      [{ amount_usdc: '0' }, 'amount_invalid', 'amount_usdc'],
      [{ amount_usdc: '1.0000001' }, 'amount_invalid', 'amount_usdc'],
      [{ amount_usdc: '-1' }, 'amount_invalid', 'amount_usdc'],
      [{ to: '0x12' }, 'address_invalid', 'to'],
      [{ to: `${RECIPIENT.slice(0, -1)}c` }, 'address_invalid', 'to'],
      [{ to: seeded.wallet }, 'address_invalid', 'to'],
      [{ wallet: 'x' }, 'address_invalid', 'wallet'],
      [{ amount_usdc: undefined }, undefined, undefined],
      [{ mode: 'both' }, undefined, undefined],
    ] as const
    for (const [fault, code, member] of faults) {
      const refused = await browser.call('POST', at('withdrawals'), { ...wanted(seeded), ...fault })
      const error = expectError(refused, {
        ...{ status: 400, type: 'validation_failed' },
        ...(code === undefined ? {} : { code }),
      })
      if (member !== undefined) assert.equal((error.details as { path: string }[])[0]?.path, member)
    }
    const rows = await readRows(server.context.db, 'select 1 from owner_requests where workspace_id = $1', [
      seeded.workspace.id,
    ])
    assert.deepEqual(rows, [])
  })

  test('a list and a search find withdrawals, and the filter for an agent leaves them out', async () => {
    const { seeded, browser, at } = await open('viewer')
    const withdrawal = await seedPayment(server.context, seeded, { kind: 'withdrawal', status: 'confirmed' })
    const paid = await seedPayment(server.context, seeded)
    const list = async (query: string): Promise<unknown[]> => {
      const path = `${at('payments')}?mode=test&${query}`
      return (await browser.ask<{ payments: Wire[] }>('GET', path)).payments.map(({ id }) => id)
    }
    assert.deepEqual(await list(`wallet=${seeded.wallet}`), [paid.id, withdrawal.id])
    assert.deepEqual(await list(`q=${withdrawal.id}`), [withdrawal.id])
    assert.deepEqual(await list('status=confirmed'), [withdrawal.id])
    assert.deepEqual(await list(`agent=${seeded.agentId}`), [paid.id])
  })

  /** Adds a member with a wallet passkey to the given workspace, or to a new one whose wallet this passkey owns. */
  async function open(role: Role, given?: Seed) {
    const ctx = server.context
    const seeded = given ?? (await seed(ctx))
    const { browser, userId } = await openVisitor(server)
    await addMember(ctx, { workspace: seeded.workspace, userId, role, actor: OPERATOR })
    const owner = await addWalletOwner(ctx, userId)
    if (given === undefined) {
      const wallet = { workspaceId: seeded.workspace.id, mode: seeded.mode, address: seeded.wallet }
      await ctx.db.write(insertOwner(wallet, { credentialId: owner.credentialId, addedAt: ctx.clock.now() }))
    }
    const at = (path: string) => `/console/workspaces/${seeded.workspace.slug}/${path}`
    return { seeded, browser, owner, at }
  }

  function wanted({ wallet }: Seed): Wire {
    return { mode: 'test', wallet, to: RECIPIENT, amount_usdc: '1.50' }
  }

  function issue(seeded: Seed, browser: Browser): Promise<Issued> {
    const path = `/console/workspaces/${seeded.workspace.slug}/withdrawals`
    return browser.ask('POST', path, wanted(seeded), 201)
  }
})
