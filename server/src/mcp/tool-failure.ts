import { Type, type Static } from 'typebox'
import type { ProblemCode, ProblemType } from '../values/problem.ts'

/** The error codes that only a tool can return. A tool can also return the error codes of `/v1`. */
export const TOOL_CODES = [
  'agent_id_required',
  'wallet_required',
  'no_wallet',
  'purchase_id_used',
  'similar_payment_exists',
  'timed_out',
] as const

export type ToolCode = (typeof TOOL_CODES)[number]

export interface ToolFailureOptions {
  readonly code: ProblemCode | ProblemType | ToolCode
  /** What happened, in one sentence. */
  readonly message: string
  /** What the model can do next, in one sentence, or two. */
  readonly next: string
  readonly details?: unknown
  readonly cause?: unknown
}

/** The reason why a tool could not do what it was asked to. It becomes a result with `isError`. */
export class ToolFailure extends Error {
  readonly code: ToolFailureOptions['code']
  readonly next: string
  readonly details: unknown

  constructor({ code, message, next, details, cause }: ToolFailureOptions) {
    super(message, { cause })
    this.code = code
    this.next = next
    this.details = details
  }
}

export const ToolErrorSchema = Type.Object(
  {
    code: Type.String({ description: 'The kind of error, such as `daily_cap_exceeded`.' }),
    message: Type.String({ description: 'What happened.' }),
    next: Type.String({ description: 'What is possible now.' }),
    details: Type.Optional(
      Type.Unknown({ description: 'The limit that rejected the call, or the invalid arguments.' }),
    ),
  },
  { description: 'Present if the call failed. Then nothing was paid, unless `next` says that this is unknown.' },
)

export type ToolError = Static<typeof ToolErrorSchema>

/** Formats a failure as the `error` of a result, or as the `reason` of a preview. */
export function formatToolError({ code, message, next, details }: ToolFailure): ToolError {
  return { code, message, next, ...(details === undefined ? {} : { details }) }
}
