import { createHmac, randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { paymentData } from './webhook-events.ts'

/**
 * This process is the floor of webhook deliveries: a bare HTTP client that posts signed bodies of the size of a
 * webhook, over connections that it keeps open.
 */
export interface PostOrder {
  readonly port: number
  readonly count: number
}

const IN_FLIGHT = 40
const key = randomBytes(32)
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })
let made = 0

async function postAll({ port, count }: PostOrder): Promise<void> {
  const end = made + count
  const post = async (): Promise<void> => {
    while (made < end) {
      made += 1
      const body = JSON.stringify({ id: `evt_${made}`, created_at: new Date().toISOString(), data: paymentData() })
      await postOnce(port, body)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, post))
}

async function postOnce(port: number, body: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'webhook-signature': `v1,${createHmac('sha256', key).update(body).digest('base64')}`,
    }
    const outgoing = request(
      { host: '127.0.0.1', port, path: '/ok/floor', method: 'POST', agent, headers },
      (incoming) => {
        incoming.on('end', resolve)
        incoming.resume()
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

process.on('disconnect', () => process.exit(0))
process.on('message', (order: PostOrder) => {
  void postAll(order).then(() => process.send?.({ count: order.count }))
})
process.send?.({ ready: true })
