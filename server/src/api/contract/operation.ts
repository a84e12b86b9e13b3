import type { ProblemCode } from '../../values/problem.ts'
import type { HeaderName } from './headers.ts'

/** The types of the errors that need no code, because the type is specific enough. */
export const CODELESS_TYPES = [
  'validation_failed',
  'unauthenticated',
  'not_found',
  'payload_too_large',
  'unsupported_media_type',
  'internal',
  'unavailable',
] as const

/** The name of an error in the contract: its code, or its type if it has no code. */
export type ErrorName = ProblemCode | (typeof CODELESS_TYPES)[number]

declare module 'fastify' {
  interface FastifySchema {
    /**
     * The errors of this operation that its credential, path and body do not imply: see `listErrors`. Only `/v1` uses
     * this member.
     */
    readonly errors?: readonly ErrorName[]
    /** The headers that only a successful response of this operation has. Only `/v1` uses this member. */
    readonly replyHeaders?: readonly HeaderName[]
  }
}
