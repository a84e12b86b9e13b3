import { createHash, randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import pg from 'pg'
import { createId } from '../server/src/values/ids.ts'

/**
 * The floor is the least work that the same framework and database can do for one request. A read is one prepared
 * select by primary key. A payment is one durable transaction with the same writes as the service's, pipelined into one
 * round trip.
 */
interface Target {
  readonly accountId: string
  readonly agentId: string
  readonly wallet: string
  readonly grantId: string
}

const CONNECTIONS = 10
const READ_LANES = 2

export async function serveFloor(databaseUrl: string, targets: readonly Target[]): Promise<number> {
  const lanes = await Promise.all(
    Array.from({ length: READ_LANES }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl, pipeline: true })
      await client.connect()
      return client
    }),
  )
  const pool = new pg.Pool({ connectionString: databaseUrl, pipeline: true, max: CONNECTIONS })
  const http = Fastify({ logger: false })
  let next = 0
  const turn = (): number => (next += 1)

  http.get('/read', async () => {
    const target = pick(targets, turn())
    const { rows } = await pick(lanes, next).query({
      name: 'floor_read',
      text: 'select id, mode, created_at from agents where account_id = $1 and mode = $2 and id = $3',
      values: [target.accountId, 'test', target.agentId],
    })
    return { agent: rows[0] }
  })

  http.post('/pay', async (_request, reply) => {
    const target = pick(targets, turn())
    const now = new Date()
    const id = createId('payment', now)
    const payment = [target.accountId, id, target.agentId, target.wallet, target.grantId, now]
    const client = await pool.connect()
    try {
      const results = await Promise.all([
        client.query('begin'),
        client.query({ name: 'floor_insert_payment', text: INSERT_PAYMENT, values: payment }),
        client.query({ name: 'floor_insert_event', text: INSERT_EVENT, values: eventValues(target, id, now) }),
        client.query({
          name: 'floor_set_hash',
          text: 'update payments set tx_hash = $3, attempt_until = null where account_id = $1 and id = $2',
          values: [target.accountId, id, `0x${createHash('sha256').update(id).digest('hex')}`],
        }),
        client.query('commit'),
      ])
      if (results.at(-1)?.command !== 'COMMIT') throw new Error('the floor did not commit')
    } finally {
      client.release()
    }
    return reply.code(201).send({ payment: { id } })
  })

  await http.listen({ host: '127.0.0.1', port: 0 })
  return (http.server.address() as { port: number }).port
}

const INSERT_PAYMENT = `insert into payments (account_id, mode, id, agent_id, wallet_address, grant_id, to_address,
    amount_micro, amount_usdc, status, created_at, attempt, attempt_until, max_per_tx_micro, daily_cap_micro, spent_24h_micro)
  values ($1, 'test', $2, $3, $4, $5, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 1, '0.000001', 'pending', $6, 1, $6,
    1000000, 1000000000, 0)`
const INSERT_EVENT = `insert into events (account_id, id, mode, type, created_at, data, data_text)
  values ($1, $2, 'test', $3, $4, $5::jsonb, $5::text)`

function eventValues(target: Target, id: string, now: Date): unknown[] {
  const data = JSON.stringify({ payment: { id, to: target.wallet, memo: null, salt: randomBytes(16).toString('hex') } })
  return [target.accountId, createId('event', now), 'payment.created', now, data]
}

function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

process.on('disconnect', () => process.exit(0))
process.once('message', (message: { databaseUrl: string; targets: Target[] }) => {
  void serveFloor(message.databaseUrl, message.targets).then((port) => process.send?.({ port }))
})
