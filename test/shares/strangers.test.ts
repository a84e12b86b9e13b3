import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { seedOwner, type Person } from '../support/context/people.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { readBody, type Answer } from '../support/http-client.ts'
import { callTool } from '../support/service/mcp-client.ts'
import {
  AUTH_URL,
  authorizationRequest,
  challengeOf,
  FORM_TYPE,
  formatFields,
  handleOf,
  locationOf,
  openOauthServer,
  readTokens,
  REDIRECT_URI,
  type OauthServer,
  type RegisteredClient,
} from '../support/service/oauth-server.ts'
import { startDocumentServer, type DocumentServer } from '../support/wires/document-server.ts'
import { waitFor } from '../support/wait-for.ts'

const OTHERS = 8
const TRIES_MAX = 5
/** More than the places of a process, in all: so many connections with headers or a body that never end. */
const CONNECTIONS = 640
/** As many documents as strangers fetch and wait for: four times the places. At least so many fetches begin at once. */
const DOCUMENTS = 256
const FETCHES_MIN = 56
/** The operating system keeps up to 4 MiB of the responses of each of these connections. */
const READERS = 64
const BATCH = 8
const BATCHES_MAX = 4

const KINDS = [
  'headers that never end',
  'bodies that never end',
  'responses that nobody reads',
  'documents that never arrive',
] as const
const ATTACKS = KINDS.flatMap((kind) => [16, 64].map((addresses) => ({ kind, addresses })))

/** One connection of a stranger. The service knows the address from the proxy, and the test knows the name. */
interface Stranger {
  readonly address: string
  readonly name: string
}

interface Tenant {
  readonly seeded: Seed
  readonly person: Person
  readonly client: RegisteredClient
  refreshToken: string
}

/**
 * The strangers have no credential. All that distinguishes them is the address that the proxy reports. The attacks are
 * the same if a real proxy is in front of the service (`openFront`).
 */
describe('while strangers hold all that they can', () => {
  let given: OauthServer
  let site: DocumentServer
  let tenants: readonly Tenant[]
  before(async () => {
    given = await openOauthServer((config) => ({ ...config, webhooksToLoopback: true }))
    site = await startDocumentServer()
    tenants = await Promise.all(Array.from({ length: OTHERS }, openTenant))
  })
  after(async () => {
    await given.close()
    await site.close()
  })

  for (const [index, { kind, addresses }] of ATTACKS.entries()) {
    test(`eight tenants are served: ${kind}, from ${addresses} addresses`, async (t) => {
      const prefix = `198.18.${index}.`
      const sockets: Socket[] = []
      const silent: ServerResponse[] = []
      let isOver = false
      const watch = watchStrangers(prefix)
      const { clients } = given.front
      const endAttack = async (): Promise<void> => {
        isOver = true
        for (const socket of sockets) socket.destroy()
        for (const response of silent.splice(0)) response.destroy()
        await waitFor('the end of the connections', () => (clients ?? watch.sockets).every(({ closed }) => closed))
      }
      t.after(async () => {
        await endAttack()
        watch.stop()
      })
      const open = (bytes: string): Socket => {
        const socket = connect(Number(new URL(given.url).port), '127.0.0.1')
        socket.on('error', () => undefined)
        socket.pause()
        socket.write(bytes)
        sockets.push(socket)
        return socket
      }
      const ofStranger = (number: number): Stranger => ({
        address: prefix + (number % addresses),
        name: prefix + number,
      })
      const isUnread = ({ localPort }: Socket): boolean =>
        (clients ?? watch.sockets).some(
          ({ remotePort, writableLength }) => remotePort === localPort && writableLength > 0,
        )

      await serveAll(`before ${index}`)
      switch (kind) {
        case 'headers that never end':
          for (let number = 0; number < CONNECTIONS; number += 1) open(beginHeaders(ofStranger(number)))
          await waitFor('the connections', () => openTo(clients ?? sockets) >= CONNECTIONS)
          break
        case 'bodies that never end':
          for (let number = 0; number < CONNECTIONS; number += 1) open(postSlowly(ofStranger(number)))
          await waitFor('the requests', () => (clients === null ? watch.begun : openTo(clients)) >= CONNECTIONS)
          break
        case 'responses that nobody reads':
          await Promise.all(Array.from({ length: READERS }, (_, number) => readNothing(ofStranger(number))))
          assert.ok(sockets.some(isUnread))
          break
        case 'documents that never arrive':
          for (let number = 0; number < DOCUMENTS; number += 1) {
            const url = site.publish(`/${index}/${number}`, (response) => {
              if (isOver) response.destroy()
              else silent.push(response)
            })
            open(getClient(url, ofStranger(number)))
          }
          await waitFor('the requests', () => watch.begun === DOCUMENTS && silent.length >= FETCHES_MIN)
          break
      }
      await serveAll(`during ${index}`)
      await endAttack()
      await serveAll(`after ${index}`)

      /** Asks for large responses until one of them is not taken, and then for more. */
      async function readNothing(stranger: Stranger): Promise<void> {
        const large = get('/openapi.json', stranger).repeat(BATCH)
        const socket = open(large)
        for (let batch = 1; batch <= BATCHES_MAX; batch += 1) {
          const isFull = await waitFor('the responses', () => {
            if (isUnread(socket)) return 'full'
            return (watch.finished.get(stranger.name) ?? 0) >= batch * BATCH ? 'taken' : false
          })
          if (isFull === 'full') break
          socket.write(large)
        }
        socket.write(get('/oauth/authorize', stranger).repeat(BATCH))
      }
    })
  }

  async function openTenant(): Promise<Tenant> {
    const seeded = await seed(given.context)
    const person = await seedOwner(given.context, seeded.workspace)
    const client = await given.register()
    const verifier = randomBytes(32).toString('base64url')
    const handle = await given.openRequest(client, { code_challenge: challengeOf(verifier) })
    const approval = { workspace: seeded.workspace.slug, mode: seeded.mode, agent_id: seeded.agentId }
    const answer = await given.consent(handle, approval, { person })
    const code = new URL(locationOf(answer, 303)).searchParams.get('code') ?? ''
    const tokens = readTokens(await given.exchange({ client, code, verifier, redirectUri: REDIRECT_URI }))
    return { seeded, person, client, refreshToken: tokens.refresh_token }
  }

  /** All tenants use OAuth, `/mcp`, `/v1` and the dashboard at the same time. Each of their requests is served. */
  async function serveAll(when: string): Promise<void> {
    await Promise.all(
      tenants.map(async (tenant, index) => {
        const { client, person, seeded } = tenant
        const refresh = async (): Promise<void> => {
          const refreshed = await repeat(() => given.refresh({ client, refresh_token: tenant.refreshToken }))
          const tokens = readTokens(refreshed)
          tenant.refreshToken = tokens.refresh_token
          readBody(await repeat(() => given.call({ path: '/v1/me', key: tokens.access_token })), 200)
        }
        const connectClient = async (): Promise<void> => {
          const url = site.publish(`/${when.replace(' ', '/')}/${index}`, { redirect_uris: [REDIRECT_URI] })
          handleOf(await given.authorize(clientOf(url)))
        }
        const path = `/console/workspaces/${seeded.workspace.slug}/payments?mode=test`
        await Promise.all([
          refresh(),
          connectClient(),
          readMcp(seeded),
          repeat(() => given.ask({ path, person })).then((answer) => readBody(answer, 200)),
        ])
      }),
    )
  }

  async function readMcp({ key, agentId }: Seed): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const { error } = await callTool(given, key, 'list_wallets', { agent_id: agentId })
      if (error === undefined) return
      assert.ok(error.code === 'unavailable' && tries < TRIES_MAX, JSON.stringify(error))
    }
  }
})

/** Repeats a 503, as a client would: on a busy machine, a database connection may come late. */
async function repeat(ask: () => Promise<Answer>): Promise<Answer> {
  let answer = await ask()
  for (let tries = 1; tries < TRIES_MAX && answer.status === 503; tries += 1) answer = await ask()
  return answer
}

/** Counts the connections that are open. */
function openTo(connections: readonly Socket[]): number {
  return connections.filter(({ connecting, closed }) => !connecting && !closed).length
}

/** Observes the requests of strangers, whose names have this prefix, where the service receives them. */
function watchStrangers(prefix: string) {
  const state = { begun: 0, sockets: [] as Socket[], finished: new Map<string, number>() }
  const ofStranger = (message: unknown, note: (name: string, socket: Socket) => void): void => {
    const { request, socket } = message as { readonly request: IncomingMessage; readonly socket: Socket }
    const name = String(request.headers['user-agent'])
    if (name.startsWith(prefix)) note(name, socket)
  }
  const onStart = (message: unknown): void =>
    ofStranger(message, (_name, socket) => {
      state.begun += 1
      if (!state.sockets.includes(socket)) state.sockets.push(socket)
    })
  const onFinish = (message: unknown): void =>
    ofStranger(message, (name) => state.finished.set(name, (state.finished.get(name) ?? 0) + 1))
  subscribe('http.server.request.start', onStart)
  subscribe('http.server.response.finish', onFinish)
  return Object.assign(state, {
    stop(): void {
      unsubscribe('http.server.request.start', onStart)
      unsubscribe('http.server.response.finish', onFinish)
    },
  })
}

function get(path: string, stranger: Stranger): string {
  return `GET ${path} HTTP/1.1\r\n${headersOf(stranger)}\r\n`
}

function getClient(url: string, stranger: Stranger): string {
  return get(`/oauth/authorize?${formatFields(authorizationRequest(clientOf(url)))}`, stranger)
}

/** Returns a client whose id is the URL of its metadata document. */
function clientOf(url: string): RegisteredClient {
  return { client_id: url, client_id_issued_at: 0, client_name: '', redirect_uris: [REDIRECT_URI], scope: '' }
}

function beginHeaders(stranger: Stranger): string {
  return `GET /oauth/authorize HTTP/1.1\r\n${headersOf(stranger)}`
}

function postSlowly(stranger: Stranger): string {
  const body = `Content-Type: ${FORM_TYPE}\r\nContent-Length: 100\r\n\r\ngrant_type=`
  return `POST /oauth/token HTTP/1.1\r\n${headersOf(stranger)}${body}`
}

function headersOf({ address, name }: Stranger): string {
  return `Host: ${new URL(AUTH_URL).host}\r\nX-Forwarded-For: ${address}\r\nUser-Agent: ${name}\r\n`
}
