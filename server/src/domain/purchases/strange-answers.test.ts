import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { buyAs, offerOf, seedBuyer } from '../../../../test/support/context/seed-buyer.ts'
import type { Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { startFakeSeller, type FakeSeller } from '../../../../test/support/wires/fake-seller.ts'
import type { Context } from '../context.ts'
import type { GoodsDelivery } from './purchase.ts'
import { ANSWER_BYTES_MAX } from './send-paid-request.ts'

/** What a buyer is told. */
interface Told {
  readonly delivery: GoodsDelivery | null
  readonly status: number | undefined
  readonly body: string | null | undefined
  readonly isTruncated: boolean | undefined
}

const GOODS = 'all of the goods'

describe('a strange answer of a seller', () => {
  let given: TestContext
  let seller: FakeSeller
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
  })
  beforeEach(async () => {
    given.enclave.behave = () => 'sign'
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context, { maxTimeoutSeconds: 120 })]
  })
  afterEach(() => seller.close())
  after(() => given.close())

  for (const status of [0, 99, 600, 999]) {
    test(`a status of ${status}: the buyer gets the answer, and again by a retry`, async () => {
      seller.deliver = writeRaw(`HTTP/1.1 ${String(status).padStart(3, '0')} Odd\r\ncontent-length: 5\r\n\r\ngoods`)
      const buyer = await seedBuyer(given)
      const expected: Told = { delivery: 'failed', status, body: 'goods', isTruncated: false }
      for (const _ of ['first', 'retry']) assert.deepEqual(await pay(buyer), expected)
      assert.equal(seller.paid.length, 1)
      assert.deepEqual(await readStored(buyer), { delivery: 'failed', response_status: status, is_kept: true })
    })
  }

  test('an answer that the database does not accept as it came is stored without its status', async () => {
    const expected: Told = { delivery: 'delivered', status: 299, body: GOODS, isTruncated: false }
    seller.deliver = (response) => void response.writeHead(299).end(GOODS)
    await withConstraint('response_status < 299', async () => {
      const buyer = await seedBuyer(given)
      for (const _ of ['first', 'retry']) assert.deepEqual(await pay(buyer), expected)
      assert.equal(seller.paid.length, 1)
      assert.deepEqual(await readStored(buyer), { delivery: 'delivered', response_status: null, is_kept: true })
    })
  })

  test('an answer that cannot be stored at all reaches the buyer, with the payment', async () => {
    seller.deliver = (response) => void response.writeHead(200).end(GOODS)
    await withConstraint('response_sealed is null', async () => {
      const expected: Told = { delivery: 'delivered', status: 200, body: GOODS, isTruncated: false }
      assert.deepEqual(await pay(await seedBuyer(given)), expected)
    })
  })

  test('an answer reaches the buyer even if the payment can no longer be read', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => {
      void readRows(given.context.db, 'alter table payments rename to hidden').then(() => response.end(GOODS))
    }
    const told = await pay(buyer)
    await readRows(given.context.db, 'alter table hidden rename to payments')
    assert.deepEqual(told, { delivery: 'delivered', status: 200, body: GOODS, isTruncated: false })
    assert.deepEqual(await pay(buyer), told)
  })

  /** Ways in which an answer can break off, and what arrives of it. */
  const BROKEN: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'a length that is not reached': (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('all of', () => response.destroy())
    },
    'a connection that is reset': (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('all of', () => response.socket?.resetAndDestroy())
    },
    'chunks without the last one': (response) => {
      response.writeHead(200).write('all of', () => response.destroy())
    },
    'a chunk that is none': writeRaw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\nall of\r\nzz\r\n'),
  }
  for (const [what, breakOff] of Object.entries(BROKEN)) {
    test(`${what}: the delivery is unknown, and a retry asks again with the same header`, async () => {
      const buyer = await seedBuyer(given)
      seller.deliver = breakOff
      const partial: Told = { delivery: 'unknown', status: 200, body: 'all of', isTruncated: true }
      assert.deepEqual(await pay(buyer), partial)
      assert.deepEqual(await readStored(buyer), { delivery: 'unknown', response_status: 200, is_kept: true })
      const sends = seller.paid.length
      seller.deliver = (response) => void response.end(GOODS)
      const whole: Told = { delivery: 'delivered', status: 200, body: GOODS, isTruncated: false }
      for (const _ of ['retry', 'another retry']) assert.deepEqual(await pay(buyer), whole)
      assert.equal(seller.paid.length, sends + 1)
      assert.equal(new Set(seller.paid.map(({ header }) => header)).size, 1)
    })
  }

  test('an answer that breaks off is asked for again at once', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => {
      if (seller.paid.length > 1) response.end(GOODS)
      else response.writeHead(200, { 'content-length': 100 }).write('all of', () => response.destroy())
    }
    assert.deepEqual(await pay(buyer), { delivery: 'delivered', status: 200, body: GOODS, isTruncated: false })
    assert.equal(seller.paid.length, 2)
  })

  test('goods that arrive compressed are readable, and their headers say nothing about it', async () => {
    for (const [encoding, sent] of Object.entries({ gzip: gzipSync(GOODS), br: brotliCompressSync(GOODS) })) {
      const buyer = await seedBuyer(given)
      seller.deliver = (response) => {
        response.writeHead(200, { 'content-encoding': encoding, 'content-length': sent.length }).end(sent)
      }
      for (const _ of ['first', 'retry']) {
        assert.deepEqual(await pay(buyer), { delivery: 'delivered', status: 200, body: GOODS, isTruncated: false })
      }
    }
    assert.equal(seller.paid[0]?.headers['accept-encoding'], 'identity')
  })

  test('goods that are not in the encoding that their header names reach the buyer as they were sent', async () => {
    const expected = { gzip: 'delivered', br: 'unknown' } as const
    for (const [encoding, delivery] of Object.entries(expected)) {
      seller.deliver = (response) => response.writeHead(200, { 'content-encoding': encoding }).end(GOODS)
      const isTruncated = delivery === 'unknown'
      assert.deepEqual(await pay(await seedBuyer(given)), { delivery, status: 200, body: GOODS, isTruncated })
    }
  })

  test('a bomb is cut at the length that is kept, and is delivered', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * ANSWER_BYTES_MAX, 'x'))
    seller.deliver = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    const { body, ...told } = await pay(await seedBuyer(given))
    assert.deepEqual(told, { delivery: 'delivered', status: 200, isTruncated: true })
    assert.equal(body?.length, ANSWER_BYTES_MAX)
  })

  test('compressed goods that cannot be decoded are asked for again', async () => {
    const buyer = await seedBuyer(given)
    const sent = gzipSync(randomBytes(2_000))
    seller.deliver = (response) => {
      if (seller.paid.length > 1) response.end(GOODS)
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(sent.subarray(0, 1_500))
    }
    assert.equal((await pay(buyer)).body, GOODS)
    assert.equal(seller.paid.length, 2)
  })

  test('a compressed list of prices in the body is understood', async () => {
    const [{ amount, ...offer } = {}] = seller.accepts
    const accepts = [{ ...offer, network: 'base-sepolia', maxAmountRequired: amount, resource: seller.url }]
    const list = gzipSync(JSON.stringify({ x402Version: 1, accepts }))
    seller.ask = (response) => response.writeHead(402, { 'content-encoding': 'gzip' }).end(list)
    seller.deliver = (response) => response.end(GOODS)
    assert.equal((await pay(await seedBuyer(given))).body, GOODS)
  })

  test('what arrived stays if nothing better comes, and only as long as that', async () => {
    const buyer = await seedBuyer(given)
    // The parts of a success that arrive one after the other, and what the buyer then has.
    const steps = [
      { respond: cutAfter('all'), told: 'all' },
      { respond: refuse, told: 'all' },
      { respond: cutAfter('all of the'), told: 'all of the' },
      { respond: cutAfter('all'), told: 'all of the' },
      { respond: (response: ServerResponse) => void response.destroy(), told: 'all of the' },
    ]
    for (const { respond, told } of steps) {
      seller.deliver = respond
      assert.deepEqual(await pay(buyer), { delivery: 'unknown', status: 200, body: told, isTruncated: true })
    }
    const sends = seller.paid.length
    given.clock.setOffset(115_000)
    assert.equal((await pay(buyer)).body, 'all of the')
    assert.equal(seller.paid.length, sends)
    given.clock.setOffset(0)
  })

  test('a failure that breaks off is replaced by a whole one', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => {
      response.writeHead(500, { 'content-length': 100 }).write('we are', () => response.destroy())
    }
    assert.deepEqual(await pay(buyer), { delivery: 'unknown', status: 500, body: 'we are', isTruncated: true })
    seller.deliver = refuse
    assert.deepEqual(await pay(buyer), { delivery: 'failed', status: 402, body: 'used', isTruncated: false })
  })

  test('of two answers, both processes return the one that was stored', async () => {
    const other = given.openAnother()
    const buyer = await seedBuyer(given)
    const held: (() => void)[] = []
    seller.deliver = (response) => {
      const body = `goods ${seller.paid.length}`
      held.push(() => void response.end(body))
    }
    const first = pay(buyer)
    await waitFor('the seller to be paid', () => held.length === 1)
    await readRows(given.context.db, 'update purchases set worked_until = null where workspace_id = $1', [
      buyer.workspace.id,
    ])
    const second = pay(buyer, other)
    await waitFor('the seller to be paid again', () => held.length === 2)
    held[1]?.()
    assert.equal((await second).body, 'goods 2')
    held[0]?.()
    assert.equal((await first).body, 'goods 2')
    assert.equal((await pay(buyer)).body, 'goods 2')
  })

  function refuse(response: ServerResponse): void {
    response.writeHead(402).end('used')
  }

  function cutAfter(text: string): (response: ServerResponse) => void {
    return (response) => void response.writeHead(200, { 'content-length': 100 }).write(text, () => response.destroy())
  }

  function writeRaw(text: string): (response: ServerResponse) => void {
    return ({ socket }) => void socket?.end(text)
  }

  async function pay(buyer: Seed, ctx: Context = given.context): Promise<Told> {
    const { purchase, answer } = await buyAs(ctx, buyer, { url: `${seller.url}/goods` })
    return {
      delivery: purchase.delivery,
      status: answer?.status,
      body: answer?.body,
      isTruncated: answer?.isTruncated,
    }
  }

  async function readStored(buyer: Seed) {
    const columns = 'delivery, response_status, response_sealed is not null as is_kept'
    const [row] = await readRows(given.context.db, `select ${columns} from purchases where workspace_id = $1`, [
      buyer.workspace.id,
    ])
    return { ...row }
  }

  /** Does work while the database accepts fewer purchases than usual. */
  async function withConstraint(condition: string, work: () => Promise<void>): Promise<void> {
    const { db } = given.context
    await readRows(db, `alter table purchases add constraint narrow check (${condition}) not valid`)
    try {
      await work()
    } finally {
      await readRows(db, 'alter table purchases drop constraint narrow')
    }
  }
})
