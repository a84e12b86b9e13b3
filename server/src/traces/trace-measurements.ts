import { AsyncLocalStorage } from 'node:async_hooks'
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace as spans,
  type Attributes,
  type Tracer,
} from '@opentelemetry/api'
import { readProcessMs } from '../lib/clock.ts'
import type { Measurements, Trace } from '../lib/measurements.ts'

/** Further steps of a trace are only counted. A payment has about ten. */
const STEPS_MAX = 128

interface Step {
  readonly name: string
  /** In milliseconds since the process started. */
  readonly startMs: number
  readonly endMs: number
  readonly isFailed: boolean
  readonly attributes: Attributes
}

/**
 * Returns the same measurements, which also record traces (D75). A trace has one span for the request or the round of a
 * job, and below it one span for each transaction or statement of the database, each call to the enclave, and each use
 * of a chain's node. The spans are made when the request has ended, so that a trace which is not kept costs little.
 *
 * A round of a job is only recorded if it failed, or if it changed something. Most rounds find nothing to do.
 */
export function traceMeasurements(measurements: Measurements, tracer: Tracer): Measurements {
  const current = new AsyncLocalStorage<OpenTrace>()

  const addStep = (
    name: string,
    ms: number,
    { outcome, isFailed, ...attributes }: StepResult,
  ): OpenTrace | undefined => {
    const trace = current.getStore()
    const endMs = readProcessMs()
    trace?.add({
      name,
      startMs: endMs - ms,
      endMs,
      isFailed,
      attributes: { 'bursar.outcome': outcome, ...attributes },
    })
    return trace
  }

  const record = (trace: OpenTrace, { name, kind, isFailed, attributes }: Root): void => {
    const { steps, omitted } = trace.end()
    const root = tracer.startSpan(name, { kind, startTime: trace.startMs, attributes }, ROOT_CONTEXT)
    if (root.isRecording()) {
      const parent = spans.setSpan(ROOT_CONTEXT, root)
      for (const { name: stepName, startMs, endMs, isFailed: isStepFailed, attributes: details } of steps) {
        const span = tracer.startSpan(stepName, { startTime: startMs, attributes: details }, parent)
        if (isStepFailed) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end(endMs)
      }
      root.setAttributes(trace.attributes)
      if (omitted > 0) root.setAttribute('bursar.omitted_steps', omitted)
      if (isFailed) root.setStatus({ code: SpanStatusCode.ERROR })
    }
    root.end(readProcessMs())
  }

  return {
    ...measurements,
    startTrace: (ageMs) => new OpenTrace(current, readProcessMs() - ageMs),
    isTraced: () => current.getStore() !== undefined,
    requestEnded(request) {
      measurements.requestEnded(request)
      const { id, trace, method, route, status, code } = request
      if (!(trace instanceof OpenTrace)) return
      const attributes = {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        ...(code === '' ? {} : { 'error.type': code }),
        'bursar.request_id': id,
      }
      record(trace, { name: `${method} ${route}`, kind: SpanKind.SERVER, isFailed: status >= 500, attributes })
    },
    toolEnded(tool, code) {
      measurements.toolEnded(tool, code)
      Object.assign(current.getStore()?.attributes ?? {}, { 'bursar.tool': tool, 'bursar.tool_outcome': code })
    },
    databaseUsed(use, statement, outcome, ms) {
      const attributes = statement === '' ? {} : { 'bursar.statement': statement }
      const trace = addStep(`database ${use}`, ms, { outcome, isFailed: outcome === 'failed', ...attributes })
      if (use === 'transaction' && trace !== undefined) trace.hasChanged = true
    },
    enclaveCallEnded(call, outcome, ms) {
      measurements.enclaveCallEnded(call, outcome, ms)
      const trace = addStep(`enclave ${call}`, ms, { outcome, isFailed: outcome === 'failed' || outcome === 'unknown' })
      if (trace !== undefined) trace.hasChanged = true
    },
    nodeUsed(mode, node, outcome, ms) {
      measurements.nodeUsed(mode, node, outcome, ms)
      addStep(`chain ${mode}`, ms, { outcome, isFailed: outcome === 'failed', 'bursar.node': node })
    },
    roundEnded(job, outcome, ms, trace) {
      measurements.roundEnded(job, outcome, ms, trace)
      if (!(trace instanceof OpenTrace)) return
      const isFailed = outcome === 'failed'
      if (isFailed || trace.hasChanged) {
        record(trace, { name: `job ${job}`, kind: SpanKind.INTERNAL, isFailed, attributes: {} })
      } else trace.end()
    },
  }
}

interface StepResult extends Attributes {
  readonly outcome: string
  readonly isFailed: boolean
}

interface Root {
  readonly name: string
  readonly kind: SpanKind
  readonly isFailed: boolean
  readonly attributes: Attributes
}

class OpenTrace implements Trace {
  readonly startMs: number
  /** What is only known after the beginning. */
  readonly attributes: Attributes = {}
  /** Whether there was a transaction, or a call to the enclave. */
  hasChanged = false
  readonly #current: AsyncLocalStorage<OpenTrace>
  /** Null once the trace has ended. Work that goes on afterwards, for other requests, is not recorded. */
  #steps: Step[] | null = []
  #omitted = 0

  constructor(current: AsyncLocalStorage<OpenTrace>, startMs: number) {
    this.#current = current
    this.startMs = startMs
  }

  run<Result>(work: () => Result): Result {
    return this.#current.run(this, work)
  }

  add(step: Step): void {
    if (this.#steps === null) return
    if (this.#steps.length < STEPS_MAX) this.#steps.push(step)
    else this.#omitted += 1
  }

  end(): { steps: readonly Step[]; omitted: number } {
    const steps = this.#steps ?? []
    this.#steps = null
    return { steps, omitted: this.#omitted }
  }
}
