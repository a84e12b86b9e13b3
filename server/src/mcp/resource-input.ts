import { URL_CHARS_MAX } from '../values/limits.ts'
import { Type } from 'typebox'
import { readRequest } from '../domain/purchases/read-request.ts'
import { RESOURCE_METHODS, type AgentRequest } from '../domain/purchases/purchase-request.ts'
import type { OutboundPolicy } from '../lib/outbound/policy.ts'
import { Problem } from '../values/problem.ts'
import { invalid } from './check-arguments.ts'

/** The arguments that describe the request to a resource. The tools check_price and fetch_paid share them. */
export const RESOURCE_INPUT = {
  url: Type.String({
    maxLength: URL_CHARS_MAX,
    description: `The https URL of the resource. At most ${URL_CHARS_MAX} characters.`,
  }),
  method: Type.Optional(
    Type.String({ description: `The HTTP method: ${RESOURCE_METHODS.join(', ')}. By default GET.` }),
  ),
  headers: Type.Optional(
    // `Type.Record` would be described with `patternProperties`, which the adapters of some models do not know.
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Headers of the request, each as a string.',
    }),
  ),
  body: Type.Optional(Type.String({ description: 'The body of the request, as text. Not with GET or HEAD.' })),
}

export interface ResourceArguments {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Returns the method that arguments name, before anything else of them is checked. */
export function methodOf(args: unknown): string {
  const named = typeof args === 'object' && args !== null && 'method' in args ? args.method : undefined
  return typeof named === 'string' ? named.toUpperCase() : 'GET'
}

/** Parses the request to a resource. Throws a failure that says what is wrong with the arguments. */
export function readResource(args: ResourceArguments, policy: OutboundPolicy): AgentRequest {
  const { url, headers, body } = args
  const named = methodOf(args)
  const method = RESOURCE_METHODS.find((one) => one === named)
  if (method === undefined)
    throw invalid([{ path: 'method', message: `must be one of ${RESOURCE_METHODS.join(', ')}` }])
  const written = {
    url,
    method,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  }
  try {
    return readRequest(written, policy)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== undefined) throw error
    throw invalid([{ path: '', message: error.message.replaceAll('`', '').replace(/\.$/, '') }])
  }
}
