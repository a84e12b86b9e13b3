import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createPayer, type PayerFixture, type PayerOptions } from '../support/sandbox/payer-fixture.ts'
import { openSharedSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { connectModel, type ScriptedModel, type SeenAnswer } from '../support/sandbox/scripted-model.ts'

interface LedgerEntry {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly amount_usdc: string
  readonly purchase_id: string | null
}

/**
 * The mistakes that models make when they pay (D72), on a real chain. For each mistake, the tests check what the model
 * reads and what it can do next. They also check that, in the end, the chain has paid each purchase once, and no more
 * than was asked.
 */
describe('a model that makes a mistake', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openSharedSandboxFixture()
  })

  test('retries with a new purchase_id: it is told the earlier one, with which the retry pays nothing', async () => {
    const { payer, model, purchase } = await connect()
    const first = await model.call('send_payment', purchase)
    const retry = await model.call('send_payment', { ...purchase, purchase_id: 'second try' })
    const next = expectError(retry, 'similar_payment_exists')
    assert.match(retry.text, /Nothing was paid now/)
    const named = /purchase_id \\?"([^"\\]+)/.exec(next)?.[1]
    assert.equal(named, purchase.purchase_id)
    const again = await model.call('send_payment', { ...purchase, purchase_id: named })
    assert.deepEqual([again.content.replayed, again.content.payment?.id], [true, first.content.payment?.id])
    await checkMoved(payer, model, ['1.25'])
  })

  test('writes an amount as a number: it is told how to write it', async () => {
    const { payer, model, purchase } = await connect()
    const wrong = await model.call('send_payment', { ...purchase, amount_usdc: 1.25 })
    expectError(wrong, 'validation_failed')
    const written = /write \\?"([^"\\]+)/.exec(wrong.text)?.[1]
    assert.equal(written, '1.25')
    expectPaid(await model.call('send_payment', { ...purchase, amount_usdc: written }), '1.25')
    await checkMoved(payer, model, ['1.25'])
  })

  test("writes a wallet's name instead of its address: it is told the address", async () => {
    const { payer, model, purchase } = await connect()
    const [listed] = (await model.call('list_wallets', {})).content['wallets'] as { name: { untrusted: string } }[]
    const wrong = await model.call('send_payment', { ...purchase, wallet: listed?.name.untrusted })
    expectError(wrong, 'address_invalid')
    const address = /You can pay from (0x[0-9a-fA-F]{40})/.exec(wrong.text)?.[1]
    assert.equal(address, payer.wallet)
    expectPaid(await model.call('send_payment', { ...purchase, wallet: address }), '1.25')
    await checkMoved(payer, model, ['1.25'])
  })

  test('writes cents for dollars: the limits stop it, and the preview repeats the amount in words', async () => {
    const { payer, model, purchase } = await connect()
    const large = await model.call('send_payment', { ...purchase, amount_usdc: '125' })
    assert.equal(expectError(large, 'amount_too_large'), 'You can pay at most 10 USDC in one payment.')
    const cents = await model.call('preview_payment', { ...purchase, amount_usdc: '5' })
    assert.match(cents.text, /5 USDC \(5 dollars; test money, without value\)/)
    const right = await model.call('preview_payment', { ...purchase, amount_usdc: '0.05' })
    assert.match(right.text, /0\.05 USDC \(5 cents; test money, without value\)/)
    expectPaid(await model.call('send_payment', { ...purchase, amount_usdc: '0.05' }), '0.05')
    await checkMoved(payer, model, ['0.05'])
  })

  test('ignores a refusal: neither repeating nor splitting the payment gets around the limit', async () => {
    const { payer, model, purchase } = await connect({ maxPerTxUsdc: '10', dailyCapUsdc: '15' })
    for (const purchase_id of ['first', 'first', 'second']) {
      const refused = await model.call('send_payment', { ...purchase, purchase_id, amount_usdc: '20' })
      assert.equal(expectError(refused, 'amount_too_large'), 'You can pay at most 10 USDC in one payment.')
    }
    const half = { ...purchase, purchase_id: 'half', amount_usdc: '10' }
    const { payment } = expectPaid(await model.call('send_payment', half), '10')
    const other = { ...half, purchase_id: 'other half' }
    expectError(await model.call('send_payment', other), 'similar_payment_exists')
    const overrides = { in_addition_to: payment?.id }
    const next = expectError(await model.call('send_payment', other, { overrides }), 'daily_cap_exceeded')
    assert.match(next, /^5 USDC of the limit of 15 USDC in 24 hours is left now\./)
    await checkMoved(payer, model, ['10'])
  })

  test('uses a purchase_id again for another amount: it is told the difference, and pays only the first', async () => {
    const { payer, model, purchase } = await connect()
    expectPaid(await model.call('send_payment', purchase), '1.25')
    const other = await model.call('send_payment', { ...purchase, amount_usdc: '2.5' })
    assert.match(expectError(other, 'purchase_id_used'), /new purchase, call again with a new purchase_id/)
    assert.match(other.text, /another amount_usdc.*1\.25 USDC.*Nothing was paid now/)
    await checkMoved(payer, model, ['1.25'])
  })

  for (const negotiation of ['auto', 'legacy'] as const) {
    for (const side of ['request', 'answer'] as const) {
      const where = side === 'request' ? 'has not received the payment' : 'has signed the payment'
      test(`${negotiation}: gives up while the enclave ${where}, and calls again: the purchase is paid once`, async () => {
        const { payer, model, purchase } = await connect({}, negotiation)
        const hold = fixture.enclave.hold(side)
        const timeout = new AbortController()
        const lost = model.call('send_payment', purchase, { signal: timeout.signal })
        await hold.held
        timeout.abort()
        await assert.rejects(lost)

        // The enclave still does not respond. Nothing that the model does now may pay a second time.
        const again = model.call('send_payment', { ...purchase, wait_seconds: 30 })
        const renamed = await model.call('send_payment', { ...purchase, purchase_id: 'another id' })
        assert.match(expectError(renamed, 'similar_payment_exists'), /purchase_id "order-17", which never pays twice/)
        assert.equal(await hold.release(), 200)
        const { content, text } = await again
        assert.deepEqual([content.payment?.status, content.replayed], ['confirmed', true], text)
        await checkMoved(payer, model, ['1.25'])
      })
    }
  }

  async function connect(options: PayerOptions = {}, negotiation: 'auto' | 'legacy' = 'auto') {
    const payer = await createPayer(fixture, options)
    const model = await connectModel(fixture, payer, negotiation)
    const purchase = { to: payer.recipient, amount_usdc: '1.25', purchase_id: 'order-17' }
    return { payer, model, purchase }
  }

  /** Waits for all payments, and checks that the chain and the ledger contain these amounts and nothing else. */
  async function checkMoved(payer: PayerFixture, model: ScriptedModel, amounts: readonly string[]): Promise<void> {
    const entries = (await model.call('list_ledger', {})).content['entries'] as LedgerEntry[]
    const payments = entries.filter(({ type }) => type === 'payment')
    for (const { id } of payments) {
      const { content } = await model.call('get_payment', { payment_id: id, wait_seconds: 30 })
      assert.equal(content.payment?.status, 'confirmed')
    }
    assert.deepEqual(
      payments.map(({ amount_usdc: amount }) => amount),
      amounts,
    )
    const micro = amounts.map((amount) => BigInt(Math.round(Number(amount) * 1_000_000)))
    const transfers = await fixture.chains.test.listTransfers(payer.wallet)
    assert.deepEqual(
      transfers.map(({ to, amountMicro }) => [to, amountMicro]),
      micro.map((amountMicro) => [payer.recipient.toLowerCase(), amountMicro]),
    )
    await model.close()
  }
})

/** Checks that the call failed with this code, and returns the sentence that says what is possible now. */
function expectError({ isError, content, text }: SeenAnswer, code: string): string {
  assert.equal(isError, true, text)
  assert.equal(content.error?.code, code, text)
  return content.error.next
}

function expectPaid({ isError, content, text }: SeenAnswer, amount: string): SeenAnswer['content'] {
  assert.equal(isError, false, text)
  assert.equal(content.payment?.amount_usdc, amount)
  return content
}
