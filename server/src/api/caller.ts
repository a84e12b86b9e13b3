import type { FastifyRequest } from 'fastify'
import type { Plan } from '../domain/plans/plan.ts'
import type { Mode } from '../values/mode.ts'

/** The scopes (specification, part 5). An API key has them all. */
export const SCOPES = ['wallet:read', 'wallet:transfer', 'x402:pay'] as const

/** Whoever a `/v1` request comes from: one (account, mode), by a credential that holds now. */
export interface Caller {
  readonly authType: 'api_key'
  readonly accountId: string
  readonly accountSlug: string
  readonly accountName: string
  readonly plan: Plan
  readonly mode: Mode
  readonly scopes: readonly string[]
  readonly agentId: string | null
  /** The end of a rotation's grace; null while the credential has no end. */
  readonly expiresAt: Date | null
}

const callers = new WeakMap<FastifyRequest, Caller>()

export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller)
}

/** The caller of a request behind `authenticate`; anywhere else there is none, which is a fault of ours. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (caller === undefined) throw new Error('the request was not authenticated')
  return caller
}
