import { Type, type Static, type TObject, type TProperties } from 'typebox'
import type { Context } from '../domain/context.ts'
import type { Bucket } from '../limiter/bucket.ts'
import { MODES, type Mode } from '../values/mode.ts'
import { oneOf } from '../values/schema-fields.ts'
import type { Scope } from '../values/scope.ts'
import { ToolErrorSchema } from './tool-failure.ts'

/** No call of a tool lasts longer than this. Many hosts give up after 60 seconds (D72). */
export const CALL_MS_MAX = 45_000
/** The longest wait that a call may ask for. */
const WAIT_SECONDS_MAX = 45

/** The caller of a tool, as the authentication of `/v1` found it. */
export interface ToolCaller {
  readonly workspaceId: string
  readonly mode: Mode
  /** The id of the API key or of the connection. */
  readonly credentialId: string
  /** The id of the HTTP request. */
  readonly requestId: string
  /** The only agent that the credential may act as. Null for an API key that is bound to no agent. */
  readonly agentId: string | null
}

export interface ToolCall<Arguments = Record<string, unknown>> {
  readonly caller: ToolCaller
  readonly args: Arguments
  /**
   * Aborted shortly before the call must end, when the client has left, or when the service stops. Ends all waiting.
   */
  readonly signal: AbortSignal
  /** Called when the call begins to wait for a payment. */
  readonly onWait?: (() => void) | undefined
  /** For work that continues after the call. */
  readonly background?: Background | undefined
}

/** Keeps track of work that continues after its call. */
export interface Background {
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal
  /** When the service stops, it waits for this work first. The promise must never reject. */
  keep(work: Promise<unknown>): void
}

/** What a tool returns: one sentence in words, and the members that its output schema describes. */
export interface ToolAnswer {
  readonly summary: string
  readonly members: Readonly<Record<string, unknown>>
}

export interface Tool {
  readonly name: string
  readonly title: string
  /** Written for models. */
  readonly description: string
  readonly input: TObject
  readonly output: TObject
  /** Hints for hosts, with which they decide whether to ask their user first. */
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
  /** The rate limit that counts the call, and the scope that it needs; without `scope`, any scope is enough. */
  readonly requirements: { readonly bucket: Bucket; readonly scope?: Scope }
  /** What some arguments require beside that. The arguments are as the model wrote them. */
  requirementsOf?(args: unknown): { readonly scope?: Scope }
  run(ctx: Context, call: ToolCall): Promise<ToolAnswer>
}

/** Hints of a tool that changes nothing. */
export const READ_HINTS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const

/**
 * Describes a tool whose `run` receives the arguments with the types of its input schema. `checkArguments` has checked
 * them against this schema before.
 */
export function defineTool<Input extends TProperties>(
  tool: Omit<Tool, 'input' | 'run'> & {
    readonly input: TObject<Input>
    run(ctx: Context, call: ToolCall<Static<TObject<Input>>>): Promise<ToolAnswer>
  },
): Tool {
  return { ...tool, run: (ctx, call) => tool.run(ctx, { ...call, args: call.args as Static<TObject<Input>> }) }
}

/** The input schema of a tool. Unknown members are rejected (D4). */
export function inputOf<Properties extends TProperties>(properties: Properties): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false })
}

/**
 * The output schema of a tool: the members of the tool's own answers, which are missing after an error, and the members
 * that the answers of all tools have. The descriptions are for readers of the code: they are not published.
 */
export function outputOf(properties: TProperties): TObject {
  const optional = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]))
  return Type.Object({
    mode: oneOf(MODES, { description: 'Whether this is about test money or live money.' }),
    money: Type.String({ description: 'What the money of this mode is, in words.' }),
    summary: Type.Optional(Type.String({ description: 'The answer in words. Missing after an error.' })),
    error: Type.Optional(ToolErrorSchema),
    ...optional,
  })
}

export const AgentIdInput = Type.Optional(
  Type.String({
    description:
      'The agent to act as. Leave it out if you are connected as one agent. Required with an API key that is bound to no agent.',
  }),
)

export const WaitSecondsInput = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: WAIT_SECONDS_MAX,
    description: `How long to wait for the payment to be confirmed or failed, from 0 to ${WAIT_SECONDS_MAX} seconds. By default, the call does not wait.`,
  }),
)
