import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { LOOPBACK, MODES, type Mode } from '../addresses.ts'
import type { Behaviour } from './behaviour.ts'
import type { SellerConfig } from './config.ts'
import { disturbAnswer, disturbOffer } from './disturb-answer.ts'
import { createFacilitator } from './facilitator.ts'
import { REQUEST_BYTES_MAX, RESOURCES_MAX, STOP_MS_MAX } from './limits.ts'
import { readNonce, readPaymentHeader } from './payment-header.ts'
import { createResource, type Resource } from './resource.ts'
import { sellByMpp } from './sell-mpp.ts'
import { sellByX402V1 } from './sell-x402-v1.ts'
import { sellByX402 } from './sell-x402.ts'
import { openSellerChain, type SellerChain } from './seller-chain.ts'
import { createGoods, formatPriceList, formatPricePage, prefixOf } from './shop.ts'

export interface Seller {
  readonly port: number
  close(): Promise<void>
}

/** A resource with the handlers that are made for it at its first request. */
interface Stall {
  readonly resource: Resource
  readonly facilitator: () => RequestHandler
  readonly handlers: () => readonly RequestHandler[]
}

/**
 * Starts a shop that sells goods for payments by x402 or MPP and has its own facilitators. Resolves when it listens.
 */
export async function openSeller(config: SellerConfig): Promise<Seller> {
  const app = express()
  const server = createServer(app)
  server.listen(config.port, LOOPBACK)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const chains: Record<Mode, SellerChain> = {
    test: openSellerChain('test', config.rpcUrls.test),
    live: openSellerChain('live', config.rpcUrls.live),
  }
  const stalls = new Map<string, Stall>()
  const goods = createGoods()
  const add = (resource: Resource): void => {
    const chain = chains[resource.behaviour.mode]
    const stall = createStall(chain, resource, `http://${LOOPBACK}:${port}/facilitator/${resource.id}`)
    stalls.set(resource.id, stall).set(resource.path, stall)
  }
  for (const resource of goods) add(resource)
  const origin = `http://localhost:${port}`
  addControl(app, { config, stalls, origin, add, created: stalls.size })
  addPriceLists(app, goods, origin)
  app.use('/facilitator/:id', (request, response, next) => {
    const stall = stalls.get(request.params.id)
    if (stall === undefined) response.status(404).json({ error: 'there is no such facilitator' })
    else stall.facilitator()(request, response, next)
  })
  app.use((request, response) => serve(stalls.get(request.path), request, response))
  return {
    port,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), STOP_MS_MAX).unref()
      await closed
    },
  }
}

interface ControlOptions {
  readonly config: SellerConfig
  readonly stalls: ReadonlyMap<string, Stall>
  readonly origin: string
  readonly add: (resource: Resource) => void
  /** How many entries `stalls` has at the start. Each resource has two entries. */
  readonly created: number
}

/** Adds the routes with which the control API creates resources and reads their counters. */
function addControl(app: Express, { config, stalls, origin, add, created }: ControlOptions): void {
  const control = express.Router()
  control.use((request, response, next) => {
    if (request.get('x-seller-control') === config.controlToken) next()
    else response.status(401).json({ error: 'x-seller-control is missing or wrong' })
  })
  control.post('/resources', express.json(), (request, response) => {
    if ((stalls.size - created) / 2 >= RESOURCES_MAX) {
      response.status(409).json({ error: `there are already ${RESOURCES_MAX} resources` })
      return
    }
    const resource = createResource(request.body as Behaviour)
    add(resource)
    response.status(201).json(describe(resource, origin))
  })
  control.get('/resources/:id', (request, response) => {
    const stall = stalls.get(request.params.id)
    if (stall === undefined) response.status(404).json({ error: 'there is no such resource' })
    else response.json(describe(stall.resource, origin))
  })
  app.use('/control', control)
}

function addPriceLists(app: Express, goods: readonly Resource[], origin: string): void {
  for (const mode of MODES) {
    app.get(prefixOf(mode) || '/', (request, response) => {
      if (request.accepts(['json', 'html']) === 'html') response.type('html').send(formatPricePage(mode, goods))
      else response.json(formatPriceList(mode, goods, origin))
    })
  }
}

function describe(resource: Resource, origin: string): object {
  const { id, path, counters } = resource
  return { id, url: origin + path, pay_to: resource.payTo, later_pay_to: resource.laterPayTo, ...counters }
}

/** Creates the handlers of the requests for a resource, in the order in which they run. */
function createStall(chain: SellerChain, resource: Resource, facilitatorUrl: string): Stall {
  return {
    resource,
    facilitator: makeOnce(() => createFacilitator(chain, resource)),
    handlers: makeOnce(() => [
      express.text({ type: () => true, limit: REQUEST_BYTES_MAX }),
      disturbAnswer(resource),
      disturbOffer(resource),
      unlessSold(resource, sell(chain, resource, facilitatorUrl)),
      deliver(resource),
    ]),
  }
}

function sell(chain: SellerChain, resource: Resource, facilitatorUrl: string): RequestHandler {
  switch (resource.behaviour.protocol) {
    case 'x402_v2':
      return sellByX402(chain, resource, facilitatorUrl)
    case 'x402_v1':
      return sellByX402V1(chain, resource, facilitatorUrl)
    case 'mpp':
    case 'mpp_and_x402':
    case 'mpp_beside_bearer':
      return sellByMpp(chain, resource)
  }
}

/** Skips the selling if the request has an authorization for which the goods were already sold. */
function unlessSold(resource: Resource, selling: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const nonce = readNonce(readPaymentHeader(request) ?? '')
    return nonce !== null && resource.wasSold(nonce) ? next() : selling(request, response, next)
  }
}

/** Returns a handler that makes the goods and writes the answer. */
function deliver(resource: Resource): RequestHandler {
  return (request, response) => {
    if (resource.meets('handler_fails')) {
      response.status(500).json({ error: 'the goods could not be made' })
      return
    }
    resource.count('deliveries')
    if (resource.meets('answer_huge')) {
      response.type('text').send('x'.repeat(resource.behaviour.answerBytes))
      return
    }
    const received = typeof request.body === 'string' && request.body !== '' ? { received: request.body } : {}
    const standard = { goods: resource.id, delivery: resource.counters.deliveries, method: request.method, ...received }
    response.json(resource.goods?.() ?? standard)
  }
}

function serve(stall: Stall | undefined, request: Request, response: Response): void {
  if (stall === undefined) {
    response.status(404).json({ error: 'nothing is for sale here' })
    return
  }
  const { resource } = stall
  resource.count('requests')
  const header = readPaymentHeader(request)
  if (header !== undefined) {
    resource.count('paid_requests')
    const nonce = readNonce(header)
    if (nonce !== null) resource.countAuthorization(nonce)
  }
  runInTurn(stall.handlers(), request, response)
}

/** Runs handlers in turn. Each handler starts when the previous handler calls `next`. */
function runInTurn(handlers: readonly RequestHandler[], request: Request, response: Response): void {
  const fail = (error: unknown): void => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    if (response.headersSent) response.destroy()
    else response.status(500).json({ error: 'the seller failed' })
  }
  const run = async (index: number): Promise<void> => {
    await handlers[index]?.(request, response, (error?: unknown) => {
      if (error === undefined) void run(index + 1).catch(fail)
      else fail(error)
    })
  }
  run(0).catch(fail)
}

/** Returns a function that makes a value at its first call, and returns the same value at each call. */
function makeOnce<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}
