import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { Agent, request } from 'node:http'
import Fastify from 'fastify'
import pg from 'pg'
import { createId } from '../server/src/values/ids.ts'

/**
 * The floor is the least work that the same framework and database can do for one request:
 *
 * - A read is one prepared select by primary key.
 * - A payment is one durable transaction with the same writes as the service's, pipelined into one round trip.
 * - A signed payment also signs with P-256, and makes one HTTP request to the enclave.
 * - A refresh is one durable transaction that ends a token and inserts two.
 */
interface Target {
  readonly workspaceId: string
  readonly agentId: string
  readonly wallet: string
  readonly grantId: string
}

export interface FloorOrder {
  readonly databaseUrl: string
  readonly enclaveUrl: string
  readonly targets: readonly Target[]
}

/** The name under which `bench:check` finds the floor's connections in PostgreSQL. */
const NAME = 'floor'
const CONNECTIONS = 10
const SHARED_CONNECTIONS = 2
const ENCLAVE_CONNECTIONS = 50

interface Statement {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

async function serveFloor({ databaseUrl, enclaveUrl, targets }: FloorOrder): Promise<number> {
  const shared = await Promise.all(
    Array.from({ length: SHARED_CONNECTIONS }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl, pipeline: true, application_name: NAME })
      await client.connect()
      return client
    }),
  )
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    pipeline: true,
    application_name: NAME,
    max: CONNECTIONS,
    // Connections stay open, so that the processor time of all of them is known at the end of a round.
    idleTimeoutMillis: 0,
  })
  await pool.query(CREATE_TOKENS)
  const http = Fastify({ logger: false })
  http.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(String(body))))
  })
  let turn = 0
  const next = (): Target => pick(targets, (turn += 1))

  http.get('/read', async () => {
    const { workspaceId, agentId } = next()
    const { rows } = await pick(shared, turn).query({
      name: 'floor_read',
      text: 'select id, mode, created_at from agents where workspace_id = $1 and mode = $2 and id = $3',
      values: [workspaceId, 'test', agentId],
    })
    return { agent: rows[0] }
  })
  http.post('/pay', async (_request, reply) => {
    const id = await pay(pool, next())
    return reply.code(201).send({ payment: { id } })
  })
  const callEnclave = createEnclaveCall(enclaveUrl)
  http.post('/pay-signed', async (_request, reply) => {
    const target = next()
    const id = await pay(pool, target)
    await callEnclave(target, id)
    return reply.code(201).send({ payment: { id } })
  })
  http.post('/refresh', async () => await refresh(pool))

  await http.listen({ host: '127.0.0.1', port: 0 })
  return (http.server.address() as { port: number }).port
}

async function pay(pool: pg.Pool, target: Target): Promise<string> {
  const now = new Date()
  const id = createId('payment', now)
  const payment = [target.workspaceId, id, target.agentId, target.wallet, target.grantId, now]
  await commit(pool, [
    { name: 'floor_insert_payment', text: INSERT_PAYMENT, values: payment },
    { name: 'floor_insert_event', text: INSERT_EVENT, values: eventValues(target, id, now) },
    {
      name: 'floor_set_hash',
      text: 'update payments set tx_hash = $3, attempt_until = null where workspace_id = $1 and id = $2',
      values: [target.workspaceId, id, `0x${hash(id).toString('hex')}`],
    },
  ])
  return id
}

async function refresh(pool: pg.Pool): Promise<object> {
  const [access, token] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
  await commit(pool, [
    {
      name: 'floor_take_token',
      text: 'update floor_tokens set taken_at = $2 where token_hash = $1 and taken_at is null',
      values: [hash(access), new Date()],
    },
    { name: 'floor_insert_token', text: INSERT_TOKEN, values: [hash(access), new Date()] },
    { name: 'floor_insert_token', text: INSERT_TOKEN, values: [hash(token), new Date()] },
  ])
  return { access_token: access, refresh_token: token }
}

/** Runs the statements as one durable transaction, in one round trip. */
async function commit(pool: pg.Pool, statements: readonly Statement[]): Promise<void> {
  const client = await pool.connect()
  try {
    const results = await Promise.all([
      client.query('begin'),
      ...statements.map((statement) => client.query(statement)),
      client.query('commit'),
    ])
    if (results.at(-1)?.command !== 'COMMIT') throw new Error('the floor did not commit')
  } finally {
    client.release()
  }
}

/** Returns a function that signs a transfer with P-256, and posts it over a connection that is kept open. */
function createEnclaveCall(enclaveUrl: string): (target: Target, id: string) => Promise<void> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const agent = new Agent({ keepAlive: true, maxSockets: ENCLAVE_CONNECTIONS })
  return async ({ wallet }, id) => {
    const body = JSON.stringify({
      method: 'eth_sendTransaction',
      caip2: 'eip155:84532',
      sponsor: true,
      reference_id: id,
      params: { transaction: { to: wallet, data: `0x${'0'.repeat(136)}` } },
    })
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'privy-authorization-signature': sign('sha256', Buffer.from(body), privateKey).toString('base64'),
      'privy-idempotency-key': id,
      'privy-request-expiry': String(Date.now() + 10_000),
    }
    await new Promise<void>((resolve, reject) => {
      const url = new URL(`/v1/wallets/${wallet}/rpc`, enclaveUrl)
      const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
        incoming.on('end', () => (incoming.statusCode === 200 ? resolve() : reject(new Error('the enclave refused'))))
        incoming.resume()
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
}

const INSERT_PAYMENT = `insert into payments (workspace_id, mode, id, agent_id, wallet_address, grant_id, to_address,
    amount_micro, amount_usdc, status, created_at, attempt, attempt_until, max_per_tx_micro, daily_cap_micro, spent_24h_micro)
  values ($1, 'test', $2, $3, $4, $5, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 1, '0.000001', 'pending', $6, 1, $6,
    1000000, 1000000000, 0)`
const INSERT_EVENT = `insert into events (workspace_id, id, mode, type, created_at, data, data_text)
  values ($1, $2, 'test', $3, $4, $5::jsonb, $5::text)`
const CREATE_TOKENS = `create table if not exists floor_tokens (token_hash bytea primary key, created_at timestamptz not null,
  taken_at timestamptz)`
const INSERT_TOKEN = 'insert into floor_tokens (token_hash, created_at) values ($1, $2)'

function eventValues(target: Target, id: string, now: Date): unknown[] {
  const data = JSON.stringify({ payment: { id, to: target.wallet, memo: null, salt: randomBytes(16).toString('hex') } })
  return [target.workspaceId, createId('event', now), 'payment.created', now, data]
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

process.on('disconnect', () => process.exit(0))
process.once('message', (order: FloorOrder) => {
  void serveFloor(order).then((port) => process.send?.({ port }))
})
