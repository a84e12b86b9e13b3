import { fastify } from 'fastify'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { registerApiRoutes } from './api-routes.ts'
import { bundleOperations } from './bundle-operations.ts'
import { createChainNode } from './chain-node.ts'
import { createEnclaveClock } from './clock.ts'
import type { EnclaveConfig } from './config.ts'
import type { EnclaveContext } from './context.ts'
import { registerControlRoutes } from './control-routes.ts'
import { createDelegations } from './delegations.ts'
import { ApiError, notFound } from './errors.ts'
import { createFaults } from './faults.ts'
import { followTransactions } from './follow-transactions.ts'
import { openKeyVault } from './key-vault.ts'
import { BODY_BYTES_MAX, HEADER_BYTES_MAX } from './limits.ts'
import { createNonceLanes } from './nonce-lanes.ts'
import { createPace } from './pace.ts'
import { createReadLag } from './read-lag.ts'
import { createReferences } from './references.ts'
import { openStore } from './store.ts'
import { createWakeup } from './wakeup.ts'
import buildValidators from '@fastify/ajv-compiler'

type Compile = ReturnType<ReturnType<typeof buildValidators>>
type Validate = ReturnType<Compile>

/**
 * The enclave listens on loopback only. It uses both address families, because a client may resolve `localhost` to
 * either one.
 */
const HOST = 'localhost'

export interface RunningEnclave {
  readonly port: number
  readonly url: string
  setClockOffset(offsetMs: number): void
  close(): Promise<void>
}

/**
 * Opens the database, listens, and processes transactions on the chains until it is closed. Throws if the port is in
 * use or the database cannot be opened.
 */
export async function openEnclave(config: EnclaveConfig): Promise<RunningEnclave> {
  const store = openStore(config.dataDir)
  const context: EnclaveContext = {
    store,
    vault: openKeyVault(config.dataDir, { create: !store.hasWallets() }),
    clock: createEnclaveClock(config.clockOffsetMs),
    chains: new Map([...config.chains].map(([caip2, url]) => [caip2, createChainNode(url)])),
    lanes: createNonceLanes(),
    delegations: createDelegations(),
    wakeups: new Map([...config.chains.keys()].map((caip2) => [caip2, createWakeup()])),
    pace: createPace(config.profile),
    faults: createFaults(),
    readLag: createReadLag(),
    references: createReferences(store),
  }
  let url = config.publicUrl ?? ''
  const app = createServer()
  // Clients use this header to measure how far their clock differs from the enclave's.
  app.addHook('onSend', async (_request, reply) => {
    reply.header('date', new Date(context.clock.nowMs()).toUTCString())
  })
  const { appId, appSecret } = config
  await app.register((api) => registerApiRoutes(api, context, { appId, appSecret, publicUrl: () => url }), {
    prefix: '/v1',
  })
  await app.register((control) => registerControlRoutes(control, context, config.controlToken), { prefix: '/control' })
  await app.listen({ host: HOST, port: config.port })
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : config.port
  if (url === '') url = `http://${HOST}:${port}`
  const stopping = new AbortController()
  const working = Promise.all([
    followTransactions(context, stopping.signal),
    bundleOperations(context, stopping.signal),
  ])
  return {
    port,
    url,
    setClockOffset: (offsetMs) => context.clock.setOffset(offsetMs),
    close: async () => {
      stopping.abort()
      await app.close()
      await working
      store.close()
    },
  }
}

function createServer(): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    forceCloseConnections: true,
    http: { maxHeaderSize: HEADER_BYTES_MAX },
    // A body is checked as received and never changed, because the client signed exactly these values.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false } },
    schemaController: { compilersFactory: { buildValidator: compileOnDemand() } },
  })
  app.setErrorHandler<FastifyError>(sendError)
  app.setNotFoundHandler(() => {
    throw notFound('Resource')
  })
  return app
}

/** Converts any error to the provider's wire format. An unexpected error becomes a 500 without details. */
async function sendError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (error instanceof ApiError) {
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds)
    if (error.page !== undefined) return await reply.code(error.status).type('text/html').send(error.page)
    return await reply.code(error.status).send(error.body())
  }
  if (error.validation !== undefined) {
    const code = request.url.startsWith('/v1/policies') ? 'invalid_policy_format' : 'invalid_data'
    return await reply.code(400).send({ error: `Validation error: ${error.message}`, code })
  }
  const status = error.statusCode ?? 500
  if (status < 500) return await reply.code(status).send({ error: error.message, code: 'invalid_data' })
  process.stderr.write(`enclave: ${error.stack ?? error.message}\n`)
  return await reply.code(500).send({ error: 'Internal server error' })
}

/**
 * Returns Fastify's own compiler of schemas, but each schema is compiled when a request first needs it. The schemas of
 * all routes would take a sixth of the enclave's start, and most sandboxes need only a few of them. The service has a
 * function like this, but the enclave shares no code with the service that it checks.
 */
function compileOnDemand(): ReturnType<typeof buildValidators> {
  const build = buildValidators()
  return (schemas, options) => {
    const compile = build(schemas, options)
    return (route) => {
      let compiled: Validate | null = null
      const validate = (body: unknown) => {
        compiled ??= compile(route)
        const result = compiled(body)
        // Fastify reads this property right after the call.
        validate.errors = compiled.errors
        return result
      }
      validate.errors = null as Validate['errors']
      return validate as Validate
    }
  }
}
