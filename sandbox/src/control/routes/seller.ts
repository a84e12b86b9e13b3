import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { Problem } from '../../../../server/src/values/problem.ts'
import {
  BEHAVIOUR_DEFAULT,
  ENCODINGS,
  FAULTS,
  FLOWS,
  OFFERS,
  PROTOCOLS,
  type Behaviour,
} from '../../seller/behaviour.ts'
import { ANSWER_BYTES_MAX, DELAY_MS_MAX } from '../../seller/limits.ts'
import { MODES } from '../../addresses.ts'
import { Fields } from '../fields.ts'
import type { ControlContext } from '../control-context.ts'

const COUNT_MAX = 1_000_000
/** The longest validity of an authorization that a seller can offer: a year. */
const TIMEOUT_SECONDS_MAX = 366 * 24 * 60 * 60

/** The statuses with which an HTTP server can end a request. Those above 599 are in no standard. */
const STATUSES = { min: 200, max: 999 }

/** Adds the routes that create resources at the seller, each with its own path and behaviour. */
export function addSellerRoutes(http: HttpServer, { seller }: ControlContext): void {
  http.post('/seller/resources', async (request, reply) => {
    const behaviour = readBehaviour(new Fields(request.body))
    return await reply.code(201).send({ resource: await seller.createResource(behaviour) })
  })
  http.get('/seller/resources/:id', async (request) => {
    const resource = await seller.findResource(new Fields(request.params).text('id'))
    if (resource === null) throw new Problem('not_found', 'There is no such resource.')
    return { resource }
  })
}

function readBehaviour(fields: Fields): Behaviour {
  const initial = BEHAVIOUR_DEFAULT
  const integer = (name: string, fallback: number, max: number): number =>
    fields.has(name) ? fields.integer(name, { min: 1, max }) : fallback
  const status = (name: string, fallback: number): number =>
    fields.has(name) ? fields.integer(name, STATUSES) : fallback
  return {
    mode: fields.oneOf('mode', MODES, initial.mode),
    protocol: fields.oneOf('protocol', PROTOCOLS, initial.protocol),
    flow: fields.oneOf('flow', FLOWS, initial.flow),
    amount: fields.has('price_usdc') ? String(fields.amount('price_usdc')) : initial.amount,
    payTo: fields.has('pay_to') ? fields.address('pay_to') : null,
    offers: fields.has('offers') ? fields.someOf('offers', OFFERS) : initial.offers,
    maxTimeoutSeconds: integer('max_timeout_seconds', initial.maxTimeoutSeconds, TIMEOUT_SECONDS_MAX),
    faults: fields.has('faults') ? fields.someOf('faults', FAULTS) : initial.faults,
    faultCount: fields.has('fault_count') ? integer('fault_count', 1, COUNT_MAX) : null,
    changesAfter: integer('changes_after', initial.changesAfter, COUNT_MAX),
    delayMs: integer('delay_ms', initial.delayMs, DELAY_MS_MAX),
    answerBytes: integer('answer_bytes', initial.answerBytes, ANSWER_BYTES_MAX),
    answerStatus: status('answer_status', initial.answerStatus),
    encoding: fields.oneOf('encoding', ENCODINGS, initial.encoding),
    redirectStatus: status('redirect_status', initial.redirectStatus),
    redirectTo: fields.has('redirect_to') ? fields.text('redirect_to') : null,
    remembers: fields.flag('remembers', initial.remembers),
  }
}
