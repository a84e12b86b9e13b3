import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type Adapter, type AdapterPayload } from 'oidc-provider'
import pg from 'pg'

/**
 * The peer of our token endpoint: `oidc-provider`, with a plain adapter on the same PostgreSQL. It does comparable
 * work. Clients are public and stored, codes are bound by PKCE, refresh tokens are rotated, tokens are opaque, and only
 * their hashes are stored. Each write of the adapter is durable.
 */
export interface PeerOrder {
  readonly databaseUrl: string
  readonly redirectUri: string
  readonly clientIds: readonly string[]
}

/** What to create before a measurement: `count` codes or refresh tokens, spread evenly over all clients. */
export interface PeerSeed {
  readonly kind: 'AuthorizationCode' | 'RefreshToken'
  readonly count: number
  readonly codeChallenge: string
}

export interface SeededSecret {
  readonly secret: string
  readonly clientId: string
}

const CONNECTIONS = 10
const SEEDED_AT_ONCE = 50
const SCOPE = 'offline_access'
const ACCOUNT = 'bench'
const LIFETIME_SECONDS = 3_600

/** Models whose id is a secret, so that it is stored as a hash only. */
const SECRET_MODELS = ['AccessToken', 'RefreshToken', 'AuthorizationCode']

function createAdapter(pool: pg.Pool) {
  return (model: string): Adapter => {
    const isSecret = SECRET_MODELS.includes(model)
    const keyOf = (id: string): string => (isSecret ? createHash('sha256').update(id).digest('hex') : id)
    const find = async (id: string): Promise<AdapterPayload | undefined> => {
      const { rows } = await pool.query<{ payload: AdapterPayload; consumed_at: Date | null }>({
        name: 'peer_find',
        text: 'select payload, consumed_at from peer_items where model = $1 and id = $2 and expires_at > $3',
        values: [model, keyOf(id), new Date()],
      })
      const [row] = rows
      if (row === undefined) return undefined
      const consumed = row.consumed_at === null ? {} : { consumed: Math.floor(row.consumed_at.getTime() / 1_000) }
      return { ...row.payload, jti: id, ...consumed }
    }
    return {
      async upsert(id, payload, expiresIn) {
        const { jti: _, ...kept } = payload
        const stored = JSON.stringify(isSecret ? kept : payload)
        const expiresAt = new Date(Date.now() + (expiresIn ?? LIFETIME_SECONDS) * 1_000)
        await pool.query({
          name: 'peer_upsert',
          text: `insert into peer_items (model, id, payload, grant_id, expires_at) values ($1, $2, $3, $4, $5)
            on conflict (model, id) do update set payload = $3, grant_id = $4, expires_at = $5`,
          values: [model, keyOf(id), stored, payload.grantId ?? null, expiresAt],
        })
      },
      find,
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
      async consume(id) {
        await pool.query({
          name: 'peer_consume',
          text: 'update peer_items set consumed_at = $3 where model = $1 and id = $2',
          values: [model, keyOf(id), new Date()],
        })
      },
      async destroy(id) {
        await pool.query('delete from peer_items where model = $1 and id = $2', [model, keyOf(id)])
      },
      async revokeByGrantId(grantId) {
        await pool.query('delete from peer_items where grant_id = $1', [grantId])
      },
    }
  }
}

const CREATE_ITEMS = `create table if not exists peer_items (
  model text not null, id text not null, payload jsonb not null, grant_id text, expires_at timestamptz not null,
  consumed_at timestamptz, primary key (model, id));
  create index if not exists peer_items_of_grant on peer_items (grant_id) where grant_id is not null;
  create index if not exists peer_items_by_end on peer_items (expires_at)`

async function servePeer({ databaseUrl, clientIds, redirectUri }: PeerOrder) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS })
  await pool.query(CREATE_ITEMS)
  const adapter = createAdapter(pool)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    adapter,
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig' }] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    scopes: [SCOPE],
    ttl: {
      AccessToken: LIFETIME_SECONDS,
      AuthorizationCode: LIFETIME_SECONDS,
      Grant: LIFETIME_SECONDS,
      RefreshToken: LIFETIME_SECONDS,
    },
  })
  const respond = provider.callback()
  server.on('request', (request, response) => {
    void respond(request, response)
  })
  for (const clientId of clientIds) {
    await adapter('Client').upsert(
      clientId,
      {
        client_id: clientId,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
      LIFETIME_SECONDS,
    )
  }
  return { port, seed: (order: PeerSeed) => seed(provider, { ...order, clientIds, redirectUri }) }
}

/** Creates codes or refresh tokens, each with a grant of its own, through the models of the provider. */
async function seed(
  provider: Provider,
  { kind, count, codeChallenge, clientIds, redirectUri }: PeerSeed & Omit<PeerOrder, 'databaseUrl'>,
): Promise<SeededSecret[]> {
  const seeded: SeededSecret[] = []
  const seedOne = async (index: number): Promise<void> => {
    const clientId = clientIds[index % clientIds.length] ?? ''
    const client = await provider.Client.find(clientId)
    if (client === undefined) throw new Error('the peer has no such client')
    const grant = new provider.Grant({ accountId: ACCOUNT, clientId })
    grant.addOIDCScope(SCOPE)
    const source = { accountId: ACCOUNT, client, grantId: await grant.save(), scope: SCOPE }
    const item =
      kind === 'RefreshToken'
        ? new provider.RefreshToken({ ...source, gty: 'authorization_code' })
        : new provider.AuthorizationCode({
            ...source,
            redirectUri,
            codeChallenge,
            codeChallengeMethod: 'S256',
          } as never)
    seeded.push({ clientId, secret: await item.save() })
  }
  for (let made = 0; made < count; made += SEEDED_AT_ONCE) {
    const size = Math.min(SEEDED_AT_ONCE, count - made)
    await Promise.all(Array.from({ length: size }, (_, index) => seedOne(made + index)))
  }
  return seeded
}

process.on('disconnect', () => process.exit(0))
process.once('message', (order: PeerOrder) => {
  void servePeer(order).then((peer) => {
    process.on('message', (message: PeerSeed) => {
      void peer.seed(message).then((seeded) => process.send?.(seeded))
    })
    process.send?.({ port: peer.port })
  })
})
