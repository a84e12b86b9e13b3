import { createHash, randomBytes } from 'node:crypto'
import type { LoadRequest } from '../load.ts'
import { sendLoad, type Series } from '../measure.ts'
import type { PeerOrder, PeerSeed, SeededSecret } from '../peer.ts'
import { startProcess } from '../processes.ts'
import { seedClients, seedSecrets } from '../seed-tokens.ts'
import type { Endpoint, World } from '../world.ts'
import { floorSeries } from './reads.ts'
import { postForm, postRotating, shareOrders, type Length } from './requests.ts'

const FLOOR_REFRESH = 'floor: one durable transaction of three rows'
const REFRESH = 'refresh of a token'
const EXCHANGE = 'exchange of a code'
const PEER_REFRESH = 'oidc-provider: refresh of a token'
const PEER_EXCHANGE = 'oidc-provider: exchange of a code'

/** A client may make 60 token requests in a minute, so the requests are spread over many clients. */
const CLIENTS = 200
const REDIRECT_URI = 'https://client.example/callback'
const OUR_PATH = '/oauth/token'
const PEER_PATH = '/token'

interface Pkce {
  readonly codeVerifier: string
  readonly codeChallenge: string
}

type Issue = (kind: 'authorizationCode' | 'refreshToken', count: number) => Promise<SeededSecret[]>

/**
 * Exchanges and refreshes of tokens, with a floor: one durable transaction that ends a token and inserts two. Every
 * round makes `amount` requests, because a round that ended after a time would lose its last responses and the refresh
 * tokens in them.
 */
export async function tokenSeries(
  world: World,
  { withPeer, ...length }: Length & { amount: number; withPeer: boolean },
): Promise<readonly Series[]> {
  const [server, floor, pkce] = [await world.server(), await world.floor(), createPkce()]
  const targets = world.targets.slice(0, CLIENTS)
  const clients = await seedClients(world.databaseUrl, { targets, redirectUri: REDIRECT_URI })
  const issueOurs: Issue = async (kind, count) =>
    await seedSecrets(world.databaseUrl, { kind, count, clients, redirectUri: REDIRECT_URI, ...pkce })
  const way = { length, pkce }
  const ours = { endpoint: server, path: OUR_PATH, issue: issueOurs, ...way }
  const floors = [FLOOR_REFRESH]
  const floorRequest = postForm('/refresh', { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'x' })
  const series: Series[] = [
    floorSeries(world, floor, { name: FLOOR_REFRESH, request: floorRequest, length }),
    { ...(await refreshSeries(REFRESH, ours)), kind: 'ours', floors },
    { ...exchangeSeries(EXCHANGE, ours), kind: 'ours', floors },
  ]
  if (!withPeer) return series
  const peer = await startPeer(
    world,
    clients.map(({ clientId }) => clientId),
    pkce,
  )
  const theirs = { ...peer, path: PEER_PATH, ...way }
  return [
    ...series.map((one) => {
      if (one.kind === 'floor') return one
      return { ...one, peer: one.name === REFRESH ? PEER_REFRESH : PEER_EXCHANGE, aim: '1.5 of the peer' }
    }),
    { ...(await refreshSeries(PEER_REFRESH, theirs)), kind: 'peer', floors },
    { ...exchangeSeries(PEER_EXCHANGE, theirs), kind: 'peer', floors },
  ]
}

interface Way {
  readonly endpoint: Endpoint
  readonly path: string
  readonly issue: Issue
  readonly length: Length & { amount: number }
  readonly pkce: Pkce
}

type Measurable = Pick<Series, 'name' | 'endpoints' | 'prepare'>

/** Refreshes many chains of tokens. In each chain, the next request sends the newest refresh token. */
async function refreshSeries(name: string, { endpoint, path, issue, length }: Way): Promise<Measurable> {
  const seeded = await issue('refreshToken', CLIENTS)
  const requests = seeded.map(({ clientId, secret }) =>
    postRotating(path, { grant_type: 'refresh_token', client_id: clientId }, secret),
  )
  return { name, endpoints: [endpoint], prepare: sendLoad(async () => shareOrders([endpoint], requests, length)) }
}

/** Exchanges codes that were created before the round, each once. */
function exchangeSeries(name: string, { endpoint, path, issue, length, pkce }: Way): Measurable {
  const toRequest = ({ clientId, secret }: SeededSecret): LoadRequest =>
    postForm(path, {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: secret,
      code_verifier: pkce.codeVerifier,
      redirect_uri: REDIRECT_URI,
    })
  const prepare = sendLoad(async () => {
    const seeded = await issue('authorizationCode', length.amount)
    return shareOrders([endpoint], seeded.map(toRequest), length)
  })
  return { name, endpoints: [endpoint], prepare }
}

async function startPeer(world: World, clientIds: readonly string[], pkce: Pkce) {
  const first = { databaseUrl: world.databaseUrl, clientIds, redirectUri: REDIRECT_URI } satisfies PeerOrder
  const peer = world.keep(await startProcess<{ port: number }>('./peer.ts', { first }))
  const issue: Issue = async (kind, count) => {
    const model = kind === 'refreshToken' ? 'RefreshToken' : 'AuthorizationCode'
    const order = { kind: model, count, codeChallenge: pkce.codeChallenge } satisfies PeerSeed
    return await peer.ask<SeededSecret[]>(order)
  }
  return { endpoint: { url: `http://127.0.0.1:${peer.ready.port}`, process: peer }, issue }
}

function createPkce(): Pkce {
  const codeVerifier = randomBytes(32).toString('base64url')
  return { codeVerifier, codeChallenge: createHash('sha256').update(codeVerifier).digest('base64url') }
}
