import assert from 'node:assert/strict'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { addApi } from '../../server/src/api/add-api.ts'
import { ANSWER_BYTES_MAX } from '../../server/src/domain/purchases/send-paid-request.ts'
import { openHttp, type HttpServer } from '../../server/src/http/open-http.ts'
import { openPools } from '../../server/src/lib/pools.ts'
import { offerOf, seedBuyer } from '../support/context/seed-buyer.ts'
import type { Seed } from '../support/context/seed.ts'
import { openTestContext, type TestContext } from '../support/context/test-context.ts'
import { readBody, send } from '../support/http-client.ts'
import { waitFor } from '../support/wait-for.ts'
import { startFakeSeller, type FakeSeller } from '../support/wires/fake-seller.ts'

/** Each byte of such an answer becomes six characters of JSON, so this is the largest response that there is. */
const LARGEST_ANSWER = Buffer.alloc(ANSWER_BYTES_MAX, 1)
const REPEATS = 6
/** Enough for three of the largest responses. */
const UNREAD_BYTES_MAX = 20 * 1_024 * 1_024

describe('repeats of a finished purchase', () => {
  let given: TestContext
  let seller: FakeSeller
  let http: HttpServer
  let url: string
  /** How many responses were sent. */
  let responses: number
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context)]
    seller.deliver = (response) => void response.writeHead(200).end(LARGEST_ANSWER)
    const { context, config, clock } = given
    const pools = openPools({ unreadAnswers: UNREAD_BYTES_MAX })
    http = openHttp(config, { clock, logger: context.logger, pools })
    http.addHook('onSend', (_request, _reply, payload, done) => {
      responses += 1
      done(null, payload)
    })
    await addApi(http, context, config)
    await http.listen({ host: '127.0.0.1', port: 0 })
    url = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`
  })
  after(async () => {
    await http.close()
    await seller.close()
    await given.close()
  })

  test('whose responses nobody reads keep no more bytes than may be unread, and another workspace is served', async (t) => {
    const [buyer, other] = [await seedBuyer(given), await seedBuyer(given)]
    const first = await send(url, { path: '/v1/x402/pay', key: buyer.key, body: orderOf(buyer) })
    assert.equal(first.status, 200)
    responses = 0
    let most = 0
    const sockets = Array.from({ length: REPEATS }, () => repeat(buyer))
    t.after(() => sockets.forEach((socket) => socket.destroy()))
    await waitFor('all repeats', () => {
      most = Math.max(most, http.drainingAnswers.bytes)
      return responses === REPEATS
    })
    assert.ok(most > 0 && most <= UNREAD_BYTES_MAX, `${most} bytes`)
    assert.equal(http.overloadGate.inWork, 0)
    readBody(await send(url, { path: '/v1/x402/pay', key: other.key, body: orderOf(other) }), 200)
    assert.equal(seller.paid.length, 2)
  })

  function orderOf({ agentId, wallet }: Seed) {
    const terms = { agent_id: agentId, wallet, max_amount_usdc: '0.01', idempotency_key: 'one' }
    return { url: `${seller.url}/goods`, ...terms }
  }

  /** Sends the purchase again, and does not read the response. */
  function repeat(buyer: Seed): Socket {
    const body = JSON.stringify(orderOf(buyer))
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
    socket
      .pause()
      .write(
        [
          'POST /v1/x402/pay HTTP/1.1',
          'Host: a',
          `Authorization: Bearer ${buyer.key}`,
          'Content-Type: application/json',
          `Content-Length: ${Buffer.byteLength(body)}`,
          '',
          body,
        ].join('\r\n'),
      )
    return socket
  }
})
