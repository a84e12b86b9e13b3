import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Movement, Statement } from '../../server/src/console/contract/statements.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { monthAt } from '../../server/src/domain/months/month.ts'
import { labelRecipient } from '../../server/src/domain/recipients/label-recipient.ts'
import { insertRefusal } from '../../server/src/domain/refusals/refusals-store.ts'
import { createId } from '../../server/src/values/ids.ts'
import { seedDeposit } from '../support/context/deposit-rows.ts'
import { seedPayment } from '../support/context/payment-rows.ts'
import { RECIPIENT, seed } from '../support/context/seed.ts'
import { expectError } from '../support/http-client.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { openVisitor } from './person.ts'

describe('closing a month', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer()
  })
  after(() => server.close())

  test('a viewer lists the months, opens a statement and downloads it', async () => {
    const { seeded, browser, at } = await open('viewer')
    await labelRecipient(server.context, { ...place(seeded), address: RECIPIENT, label: 'Anthropic', actor: OPERATOR })
    await seedDeposit(server.context, seeded, { blockNumber: 50n })
    await seedPayment(server.context, seeded, {
      ...{ status: 'confirmed', amountUsdc: '0.50', memo: '=1+1', minedBlock: 60n, gasWei: 15n * 10n ** 16n },
    })
    await seedPayment(server.context, seeded, { status: 'failed', amountUsdc: '9' })
    const month = monthAt(server.clock.now())
    const list = await browser.ask<{ months: string[]; month: string; statements: object[] }>(
      'GET',
      `${at('statements')}?mode=test`,
    )
    assert.deepEqual([list.months, list.month], [[month], month])
    assert.deepEqual(list.statements, [
      { wallet: seeded.wallet, wallet_name: 'Seeded', opening_usdc: '0', closing_usdc: null, is_over: false },
    ])
    const path = at(`statements/${seeded.wallet}/${month}`)
    const { statement } = await browser.ask<{ statement: Statement }>('GET', `${path}?mode=test`)
    assert.deepEqual(statement, {
      ...{ wallet: seeded.wallet, wallet_name: 'Seeded', month, state: 'open', pending: 0, movements: 2 },
      opening: { usdc: '0', source: 'created', block_number: null },
      closing: { usdc: '1', source: 'computed', block_number: null },
      ...{ in_usdc: '1.5', out_usdc: '0.5', difference_usdc: null, gas: { amount: '0.15', currency: 'ETH' } },
      sums: [
        { type: 'payment', movements: 1, amount_usdc: '0.5' },
        { type: 'deposit', movements: 1, amount_usdc: '1.5' },
      ],
    })
    const { movements, next } = await browser.ask<{ movements: Movement[]; next: string | null }>(
      'GET',
      `${path}/movements?mode=test`,
    )
    assert.equal(next, null)
    assert.deepEqual(
      movements.map(({ type, in_usdc, out_usdc, gas, counterparty }) => [type, in_usdc, out_usdc, gas, counterparty]),
      [
        ['deposit', '1.5', '0', null, RECIPIENT],
        ['payment', '0', '0.5', '0.15', RECIPIENT],
      ],
    )
    const file = await browser.call('GET', `${path}/export?mode=test`)
    const name = `${seeded.workspace.slug}-test-statement-Seeded-${seeded.wallet.slice(0, 6)}-${month}.csv`
    assert.equal(file.headers['content-disposition'], `attachment; filename="${name}"`)
    const rows = file.text.split('\r\n').slice(0, -1)
    assert.deepEqual(
      rows.map((row) => row.split(',').slice(2, 6).join()),
      [
        'type,in_usdc,out_usdc,balance_usdc',
        'opening_balance,,,0',
        'deposit,1.5,,1.5',
        'payment,,0.5,1',
        'balance_so_far,,,1',
      ],
    )
    assert.match(rows[3] ?? '', /,Anthropic,.*,'=1\+1,.*,0\.15,ETH,/)
  })

  test('what is no month, no wallet, of another workspace, or of another mode is an error', async () => {
    const { seeded, browser, at } = await open('viewer')
    const month = monthAt(server.clock.now())
    const other = await seed(server.context)
    const ask = (path: string) => browser.call('GET', at(`statements/${path}`))
    expectError(await ask(`${seeded.wallet}/2026-13?mode=test`), { type: 'validation_failed' })
    expectError(await ask(`${seeded.wallet}/${month}/movements?mode=test&after=x`), { type: 'validation_failed' })
    const missing = { type: 'not_found', code: 'wallet_not_found' } as const
    for (const path of [
      `${seeded.wallet}/${month}?mode=live`,
      `x/${month}?mode=test`,
      `${other.wallet}/${month}?mode=test`,
    ])
      expectError(await ask(path), missing)
    expectError(await ask(`${seeded.wallet}/2020-01?mode=test`), { type: 'not_found' })
    expectError(await ask(`${seeded.wallet}/2999-01?mode=test`), { type: 'not_found' })
  })

  test('exports of rejected requests and of the audit log are in the time zone that the reader asks for', async () => {
    const { seeded, browser, at } = await open('viewer')
    const request = { ...place(seeded), agentId: seeded.agentId, wallet: seeded.wallet, to: RECIPIENT }
    const texts = { amountUsdc: '5', memo: '@sum', idempotencyKey: null, credentialId: null, resourceUrl: null }
    const refused = { ...request, ...texts, code: 'daily_cap_exceeded', details: {} } as const
    const now = server.clock.now()
    await server.context.db.write(insertRefusal({ ...refused, id: createId('refusal', now), createdAt: now }))
    const zone = 'time_zone=Asia/Tokyo'
    const refusals = await browser.call('GET', `${at('refusals/export')}?mode=test&${zone}`)
    const [, line = ''] = refusals.text.split('\r\n')
    assert.match(line, /,daily_cap_exceeded,.*,Seeded,.*,5,USDC,'@sum,.*,Asia\/Tokyo$/)
    const day = new Date(server.clock.now().getTime() + 9 * 3_600_000).toISOString().slice(0, 10)
    assert.match(
      String(refusals.headers['content-disposition']),
      new RegExp(`"${seeded.workspace.slug}-test-rejected-requests-until-${day}-Asia-Tokyo.csv"`),
    )
    const audit = await browser.call('GET', `${at('audit/export')}?${zone}`)
    assert.match(audit.text, /,operator,,,workspace\.created,.*,Asia\/Tokyo\r\n$/)
    const tomorrow = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
    assert.equal((await browser.call('GET', `${at('audit/export')}?from=${tomorrow}`)).text.split('\r\n').length, 2)
    expectError(await browser.call('GET', `${at('audit/export')}?time_zone=Mars`), { type: 'validation_failed' })
    assert.equal((await browser.call('HEAD', at('audit/export'))).status, 404)
  })

  test('an admin writes a note; it is found, exported, in the audit log, and gone when it is emptied', async () => {
    const { seeded, browser, at } = await open('admin')
    const payment = await seedPayment(server.context, seeded, { status: 'confirmed' })
    const path = at(`payments/${payment.id}/note`)
    const texts = { note: ' Invoice 7 ', category: 'Search', link: 'https://a.example/7' }
    const { note } = await browser.ask<{ note: object }>('PATCH', path, { mode: 'test', ...texts })
    assert.deepEqual(note, { ...texts, note: 'Invoice 7' })
    const read = async () => {
      const answer = await browser.ask<{ note: object }>('GET', `${at(`payments/${payment.id}`)}?mode=test`)
      return answer.note
    }
    assert.deepEqual(await read(), note)
    for (const q of ['invoice', 'search', 'nothing']) {
      const found = await browser.ask<{ payments: object[] }>('GET', `${at('payments')}?mode=test&q=${q}`)
      assert.equal(found.payments.length, q === 'nothing' ? 0 : 1, q)
    }
    const exported = await browser.call('GET', `${at('payments/export')}?mode=test`)
    assert.match(exported.text, /,Invoice 7,Search,https:\/\/a\.example\/7,UTC\r\n$/)
    await browser.ask('PATCH', path, { mode: 'test', note: '', category: '', link: '' })
    assert.deepEqual(await read(), { note: null, category: null, link: null })
    const log = await browser.ask<{ entries: { action: string; subject: string; details: object }[] }>(
      'GET',
      at('audit'),
    )
    const [last, first] = log.entries.filter(({ action }) => action === 'payment.noted')
    assert.deepEqual(
      [first?.subject, first?.details],
      [
        payment.id,
        {
          ...{ mode: 'test', note: 'Invoice 7', note_before: null, category: 'Search', category_before: null },
          ...{ link: texts.link, link_before: null },
        },
      ],
    )
    assert.deepEqual(last?.details, {
      ...{ mode: 'test', note: null, note_before: 'Invoice 7', category: null, category_before: 'Search' },
      ...{ link: null, link_before: texts.link },
    })
  })

  test('a link that is not https is rejected, and a payment of another workspace is not found', async () => {
    const { seeded, browser, at } = await open('admin')
    const payment = await seedPayment(server.context, seeded)
    const body = { mode: 'test', note: '', category: '', link: 'javascript:alert(1)' }
    const error = expectError(await browser.call('PATCH', at(`payments/${payment.id}/note`), body), {
      type: 'validation_failed',
    })
    assert.deepEqual(error.details, [{ path: 'link', message: '`link` must be an https address without a user name.' }])
    const other = await seedPayment(server.context, await seed(server.context))
    const empty = { ...body, link: '' }
    expectError(await browser.call('PATCH', at(`payments/${other.id}/note`), empty), { type: 'not_found' })
    expectError(await browser.call('PATCH', at(`payments/${payment.id}/note`), { ...empty, mode: 'live' }), {
      type: 'not_found',
    })
  })

  async function open(role: 'admin' | 'viewer') {
    const seeded = await seed(server.context)
    const { browser, userId } = await openVisitor(server)
    await addMember(server.context, { workspace: seeded.workspace, userId, role, actor: OPERATOR })
    return { seeded, browser, at: (path: string) => `/console/workspaces/${seeded.workspace.slug}/${path}` }
  }
})

function place({ workspace, mode }: Awaited<ReturnType<typeof seed>>) {
  return { workspaceId: workspace.id, mode }
}
