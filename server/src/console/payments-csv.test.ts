import assert from 'node:assert/strict'
import { Writable, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { ListedPayment } from '../domain/purchases/purchase-summary.ts'
import { microUsdc } from '../values/money.ts'
import { parseAddress, ZERO_ADDRESS } from '../values/address.ts'
import { openCsv } from './payments-csv.ts'

const PAYMENT: ListedPayment = {
  id: 'pay_1',
  workspaceId: 'acc_1',
  mode: 'test',
  kind: 'transfer',
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
  requestExpiresAt: null,
  fencedUntil: null,
  enclaveTransactionId: null,
  userOperationHash: null,
  senderNonce: null,
  pendingReason: null,
  firstBlock: null,
  searchedBlock: null,
  lookups: 0,
  minedBlock: null,
  minedBlockHash: null,
  logIndex: null,
  authorization: null,
  purchase: null,
}
const HEAD =
  '\ufeffid,created_at,status,failure_code,agent_id,from,to,amount_usdc,memo,idempotency_key,tx_hash,grant_id,kind,resource,delivery\r\n'

describe('payments as CSV', () => {
  test('a line of names, then one a payment, each with its end', async () => {
    const line = `pay_1,2026-06-01T12:00:00.000Z,pending,,bot,${ZERO_ADDRESS},0x${'1'.repeat(40)},1.50,,,,grt_1,transfer,,\r\n`
    assert.equal(await write([[PAYMENT]]), HEAD + line)
    assert.equal(await write([[PAYMENT], [PAYMENT, PAYMENT]]), HEAD + line + line + line)
  })

  test('a withdrawal has no agent and no grant', async () => {
    const text = await write([[{ ...PAYMENT, kind: 'withdrawal', agentId: null, grantId: null }]])
    const line = `pay_1,2026-06-01T12:00:00.000Z,pending,,,${ZERO_ADDRESS},0x${'1'.repeat(40)},1.50,,,,,withdrawal,,\r\n`
    assert.equal(text, HEAD + line)
  })

  test('a purchase has its resource and its delivery', async () => {
    const [host, resourceUrl] = ['api.example', 'https://api.example/=1,2']
    const authorization = { nonce: '0x1', validBefore: PAYMENT.createdAt } as const
    const purchase = { paymentId: 'pay_1', host, resourceUrl, delivery: 'failed', isResolved: false } as const
    const text = await write([[{ ...PAYMENT, kind: 'x402', authorization, purchase }]])
    assert.ok(text.endsWith(`,1.50,,,,grt_1,x402,"https://api.example/=1,2",failed\r\n`), text)
    const own = await write([[{ ...PAYMENT, kind: 'x402', authorization, purchase: { ...purchase, delivery: null } }]])
    assert.ok(own.endsWith(`,x402,"https://api.example/=1,2",\r\n`), own)
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
    ['\tx', `"'\tx"`],
    ['\rx', `"'\rx"`],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ['a=1', 'a=1'],
    ['a;=1+1;b', `"a;'=1+1;b"`],
    ['a; "@x"', `"a;' ""@x"""`],
    ['a\t-1', `"a\t'-1"`],
    ['two\n+1', `"two\n'+1"`],
    ['a, -1', '"a, -1"'],
    ['  =1', "'  =1"],
    ['＝1', "'＝1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠x', "'＠x"],
    ['a;b', '"a;b"'],
    ["it's 1-2", "it's 1-2"],
    [' é🍜 ', ' é🍜 '],
  ]
  for (const [memo, cell] of cells) {
    test(`${JSON.stringify(memo)} is written ${JSON.stringify(cell)}`, async () => {
      const text = await write([[{ ...PAYMENT, memo }]])
      assert.ok(text.endsWith(`,1.50,${cell},,,grt_1,transfer,,\r\n`), text)
    })
  }

  test('no page is read before the client needs it', async () => {
    let pages = 0
    const source = openCsv([PAYMENT], {
      next: async () => {
        pages += 1
        return pages > 3 ? null : [PAYMENT]
      },
    })
    const taken: (() => void)[] = []
    const reader = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void taken.push(done) })
    source.pipe(reader)
    for (const expected of [0, 1, 2, 3]) {
      await waitFor('a page', () => taken.length === 1)
      await settle()
      assert.equal(pages, expected)
      taken.shift()?.()
    }
    await waitFor('its end', () => reader.writableFinished)
  })

  test('if reading a page fails, the stream ends with an error', async () => {
    const source = openCsv([PAYMENT], { next: () => Promise.reject(new Error('lost')) })
    await assert.rejects(read(source), /lost/)
  })
})

async function write([first = [], ...others]: readonly (readonly ListedPayment[])[]): Promise<string> {
  const pages = [...others]
  return await read(openCsv(first, { next: async () => pages.shift() ?? null }))
}

/** Reads the text with its byte order mark, which decoders remove. */
async function read(source: Readable): Promise<string> {
  return (await buffer(source)).toString('utf8')
}

/** Lets all pending callbacks run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
