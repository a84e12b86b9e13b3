import type { Context } from '../domain/context.ts'
import { toProblem } from '../http/to-problem.ts'
import type { Mode } from '../values/mode.ts'
import type { Problem } from '../values/problem.ts'
import { checkArguments } from './check-arguments.ts'
import { countSeconds } from './count-seconds.ts'
import { MONEY_WORDS } from './describe-money.ts'
import { describeRefusal } from './describe-refusal.ts'
import { CALL_MS_MAX, type Background, type Tool, type ToolCall, type ToolCaller } from './tool.ts'
import { formatToolError, ToolFailure } from './tool-failure.ts'

/** Waiting ends this long before the call must end, so that there is time to read and send the result. */
const ANSWER_MS = 2_000

/** The result of a tool's call, as MCP defines it. The text is the same JSON as `structuredContent`. */
export interface ToolResult {
  [key: string]: unknown
  content: { type: 'text'; text: string }[]
  structuredContent: Record<string, unknown>
  isError: boolean
}

export interface ToolRun {
  readonly tool: Tool
  readonly caller: ToolCaller
  /** The arguments as the model wrote them. */
  readonly args: unknown
  /** Aborted when the client has left, or when the service stops. */
  readonly left: AbortSignal
  /** Called when the tool begins to wait for a payment. */
  readonly onWait?: (() => void) | undefined
  readonly background?: Background | undefined
  /** The longest time that the call may take. Only tests set it. */
  readonly limitMs?: number
}

/**
 * Runs a tool, and returns its result within `limitMs`, whatever happens. A failure is a result too: the model reads it
 * and can act on it, whereas many hosts hide an error of the protocol from the model (D72).
 *
 * If the time is over while a payment is being made, the payment continues. A call with the same `purchase_id` returns
 * it.
 */
export async function runTool(
  ctx: Context,
  { tool, caller, args, left, onWait, background, limitMs = CALL_MS_MAX }: ToolRun,
): Promise<ToolResult> {
  const deadline = AbortSignal.timeout(limitMs)
  const signal = AbortSignal.any([left, AbortSignal.timeout(Math.max(0, limitMs - ANSWER_MS))])
  const work = runChecked(ctx, tool, { caller, args, signal, onWait, background })
  const late = Promise.withResolvers<ToolResult>()
  deadline.addEventListener('abort', () => late.resolve(toErrorResult(timedOut(tool), caller.mode)), { once: true })
  return await Promise.race([work, late.promise])
}

async function runChecked(
  ctx: Context,
  tool: Tool,
  { args, ...call }: Omit<ToolCall, 'args'> & { readonly args: unknown },
): Promise<ToolResult> {
  try {
    const checked = checkArguments(args, tool.input, tool.name)
    const { summary, members } = await tool.run(ctx, { ...call, args: checked })
    ctx.measurements.toolEnded(tool.name, 'ok')
    return toResult({ ...headOf(call.caller.mode), summary, ...members }, false)
  } catch (error) {
    const failure = toFailure(ctx, { error, tool, request: call.caller.requestId })
    ctx.measurements.toolEnded(tool.name, failure.code)
    return toErrorResult(failure, call.caller.mode)
  }
}

/**
 * The result for a call that was rejected before the tool ran: the caller is over its rate limit, or is an API key
 * without the scope. Most hosts do not show a model the reason of a 429 or 403 (D72).
 */
export function rejectedResult(tool: Tool, rejection: Problem, mode: Mode): ToolResult {
  const { code = rejection.type, details, retryAfterSeconds } = rejection
  if (retryAfterSeconds === undefined) {
    const message = `This API key may not call ${tool.name}. This call did nothing.`
    return toErrorResult(
      new ToolFailure({ code, message, next: describeRefusal(rejection.code, details), details }),
      mode,
    )
  }
  const again = tool.annotations.readOnlyHint ? 'call again' : 'call again with the same purchase_id'
  const wait = countSeconds(retryAfterSeconds)
  const failure = new ToolFailure({
    code,
    message: `Too many calls. The next one is possible in ${wait}. This call did nothing.`,
    next: `Wait ${wait}, then ${again}.`,
    details: { retry_after_seconds: retryAfterSeconds },
  })
  return toErrorResult(failure, mode)
}

function toResult(content: Record<string, unknown>, isError: boolean): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content, isError }
}

function toErrorResult(failure: ToolFailure, mode: Mode): ToolResult {
  return toResult({ ...headOf(mode), error: formatToolError(failure) }, true)
}

function headOf(mode: Mode) {
  return { mode, money: MONEY_WORDS[mode] }
}

function timedOut(tool: Tool): ToolFailure {
  return new ToolFailure({
    code: 'timed_out',
    message: 'The call took too long, and its result is not known yet.',
    next: retryAdvice(tool),
  })
}

/**
 * Converts anything that a tool threw. If the fault is ours, it is logged, and its private details are left out. A
 * fault of a seller's server is not logged.
 */
function toFailure(
  ctx: Pick<Context, 'failures'>,
  { error, tool, request }: { error: unknown; tool: Tool; request: string },
): ToolFailure {
  if (error instanceof ToolFailure) return error
  const found = toProblem(error)
  const { code = found.type, details } = found
  if (found.status < 500 || found.type === 'bad_gateway') {
    return new ToolFailure({ code, message: found.message, next: describeRefusal(found.code, details), details })
  }
  ctx.failures.add({ where: tool.name, code, message: 'a tool failed', request, error: found.cause ?? found })
  const reason =
    found.type === 'unavailable' ? 'The service is temporarily unavailable' : 'Something went wrong on our side'
  const message = tool.annotations.readOnlyHint
    ? `${reason}, and this call did nothing.`
    : `${reason}, so the result of this call is not known.`
  return new ToolFailure({ code, message, next: retryAdvice(tool), details })
}

/** Says how to repeat a call whose result is unknown (D58). */
function retryAdvice({ annotations, name }: Tool): string {
  return annotations.readOnlyHint
    ? 'Call the tool again in a few seconds. Nothing was paid by this call.'
    : `The payment may have been made. Call ${name} again with the same purchase_id: it never pays twice, and returns the payment. Do not choose a new purchase_id.`
}
