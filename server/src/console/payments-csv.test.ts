import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Payment } from '../domain/payments/payment.ts'
import { microUsdc } from '../values/money.ts'
import { parseAddress, ZERO_ADDRESS } from '../values/address.ts'
import { toCsv } from './payments-csv.ts'

const PAYMENT: Payment = {
  id: 'pay_1',
  accountId: 'acc_1',
  mode: 'test',
  agentId: 'bot',
  walletAddress: ZERO_ADDRESS,
  grantId: 'grt_1',
  to: parseAddress(`0x${'1'.repeat(40)}`) ?? ZERO_ADDRESS,
  amountMicro: microUsdc(1_500_000n),
  amountUsdc: '1.50',
  memo: null,
  idempotencyKey: null,
  credentialId: null,
  status: 'pending',
  failureCode: null,
  txHash: null,
  createdAt: new Date('2026-06-01T12:00:00.000Z'),
  acceptedAt: null,
  settledAt: null,
  allowanceMonth: null,
  attempt: 1,
  attemptUntil: null,
  fencedUntil: null,
  enclaveTransactionId: null,
  minedBlock: null,
  minedBlockHash: null,
}
const HEAD = 'id,created_at,status,failure_code,agent_id,from,to,amount_usdc,memo,idempotency_key,tx_hash,grant_id\r\n'

describe('payments as CSV', () => {
  test('a line of names, then one a payment, each with its end', async () => {
    const line = `pay_1,2026-06-01T12:00:00.000Z,pending,,bot,${ZERO_ADDRESS},0x${'1'.repeat(40)},1.50,,,,grt_1\r\n`
    assert.equal(await write([[PAYMENT]]), HEAD + line)
    assert.equal(await write([[PAYMENT], [], [PAYMENT, PAYMENT]]), HEAD + line + line + line)
  })

  test('without payments there are the names', async () => {
    assert.equal(await write([[]]), HEAD)
  })

  const cells: readonly (readonly [memo: string, cell: string])[] = [
    ['plain', 'plain'],
    ['a, b', '"a, b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\rlines', '"two\rlines"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@sum', "'@sum"],
    ['\tx', "'\tx"],
    ['\rx', `"'\rx"`],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ['a=1', 'a=1'],
    [' é🍜 ', ' é🍜 '],
  ]
  for (const [memo, cell] of cells) {
    test(`${JSON.stringify(memo)} is written ${JSON.stringify(cell)}`, async () => {
      const text = await write([[{ ...PAYMENT, memo }]])
      assert.ok(text.endsWith(`,1.50,${cell},,,grt_1\r\n`), text)
    })
  }

  test('a reader who goes away ends the walk', async () => {
    let isEnded = false
    async function* walk() {
      try {
        for (;;) yield [PAYMENT]
      } finally {
        isEnded = true
      }
    }
    for await (const text of toCsv([], walk())) if (text !== HEAD) break
    assert.ok(isEnded)
  })
})

async function write([first = [], ...others]: readonly (readonly Payment[])[]): Promise<string> {
  async function* walk() {
    yield* others
  }
  let text = ''
  for await (const part of toCsv(first, walk())) text += part
  return text
}
