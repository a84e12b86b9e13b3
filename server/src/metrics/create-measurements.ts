import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'
import type { Clock } from '../lib/clock.ts'
import { NOT_MEASURED, type Measurements } from '../lib/measurements.ts'

/** The bounds of the durations, in seconds. Few, because each one is a time series of each route. */
const REQUEST_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10]
const ENCLAVE_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const MS_PER_SECOND = 1_000
/** Each file of the dashboard has a route of its own, and their names change with each version. */
const FILES_PATTERN = /^\/assets\/.+/

/**
 * Registers the metrics that are counted while the process works, and returns the functions that count. A label is
 * never `job` or `instance`: Prometheus itself adds these two, and would rename ours.
 */
export function createMeasurements(registry: Registry, clock: Clock): Measurements {
  const registers = [registry]
  const requests = new Counter({
    name: 'bursar_http_requests_total',
    help: 'Requests, by the pattern of their route, the class of their status and the code of their error',
    labelNames: ['method', 'route', 'status', 'code'],
    registers,
  })
  const requestSeconds = new Histogram({
    name: 'bursar_http_request_duration_seconds',
    help: 'How long requests took',
    labelNames: ['method', 'route'],
    buckets: REQUEST_SECONDS,
    registers,
  })
  const tools = new Counter({
    name: 'bursar_mcp_tool_calls_total',
    help: 'Calls of tools over MCP, by the code of their error, or ok',
    labelNames: ['tool', 'code'],
    registers,
  })
  const payments = new Counter({
    name: 'bursar_payments_ended_total',
    help: 'Payments that were confirmed or have failed, by the code of their failure, or confirmed',
    labelNames: ['mode', 'kind', 'outcome'],
    registers,
  })
  const enclaveCalls = new Counter({
    name: 'bursar_enclave_calls_total',
    help: 'Calls to the enclave by their outcome; the outcome unknown means that the call may have had an effect',
    labelNames: ['call', 'outcome'],
    registers,
  })
  const enclaveSeconds = new Histogram({
    name: 'bursar_enclave_call_duration_seconds',
    help: 'How long calls to the enclave took, with the time that they waited in this process',
    labelNames: ['call'],
    buckets: ENCLAVE_SECONDS,
    registers,
  })
  const nodeUses = new Counter({
    name: 'bursar_chain_node_calls_total',
    help: 'Uses of a node of a chain, by its position in the setting and the outcome',
    labelNames: ['mode', 'node', 'outcome'],
    registers,
  })
  const head = new Gauge({
    name: 'bursar_chain_head_block',
    help: 'The newest block of a chain that this process has read',
    labelNames: ['mode'],
    registers,
  })
  const headChanged = new Gauge({
    name: 'bursar_chain_head_changed_timestamp_seconds',
    help: 'When this process first read the newest block',
    labelNames: ['mode'],
    registers,
  })
  const leases = new Gauge({
    name: 'bursar_job_lease_held',
    help: 'Whether this process has the lease of a job; over all processes together, each job should have 1',
    labelNames: ['job_name'],
    registers,
  })
  const rounds = new Counter({
    name: 'bursar_job_rounds_total',
    help: 'Rounds of a job in this process',
    labelNames: ['job_name', 'outcome'],
    registers,
  })
  const roundSeconds = new Gauge({
    name: 'bursar_job_last_round_duration_seconds',
    help: 'How long the last round of a job took in this process',
    labelNames: ['job_name'],
    registers,
  })
  const roundSucceeded = new Gauge({
    name: 'bursar_job_last_success_timestamp_seconds',
    help: 'When a round of a job last succeeded in this process',
    labelNames: ['job_name'],
    registers,
  })
  const webhookAttempts = new Counter({
    name: 'bursar_webhook_attempts_total',
    help: 'Attempts to send webhooks, by their error, or ok',
    labelNames: ['outcome'],
    registers,
  })
  const tunnels = new Counter({
    name: 'bursar_egress_proxy_tunnels_total',
    help: 'Requests for a tunnel to the proxy of HTTPS_PROXY, by their outcome',
    labelNames: ['outcome'],
    registers,
  })
  const webhooksUnderWay = new Gauge({
    name: 'bursar_webhook_attempts_in_progress',
    help: 'Attempts to send webhooks that are in progress in this process, by the pool of the sender',
    labelNames: ['pool'],
    registers,
  })
  const newest = new Map<string, bigint>()
  const nowSeconds = (): number => clock.now().getTime() / MS_PER_SECOND

  return {
    ...NOT_MEASURED,
    requestEnded({ method, status, code, ms, ...request }) {
      const route = request.route.replace(FILES_PATTERN, '/assets/*')
      requests.inc({ method, route, status: `${Math.floor(status / 100)}xx`, code })
      requestSeconds.observe({ method, route }, ms / MS_PER_SECOND)
    },
    toolEnded: (tool, code) => tools.inc({ tool, code }),
    paymentEnded: (mode, kind, outcome) => payments.inc({ mode, kind, outcome }),
    enclaveCallEnded(call, outcome, ms) {
      enclaveCalls.inc({ call, outcome })
      enclaveSeconds.observe({ call }, ms / MS_PER_SECOND)
    },
    nodeUsed: (mode, node, outcome) => nodeUses.inc({ mode, node, outcome }),
    headRead(mode, number) {
      if (newest.get(mode) === number) return
      newest.set(mode, number)
      head.set({ mode }, Number(number))
      headChanged.set({ mode }, nowSeconds())
    },
    leaseChanged: (job, isHeld) => leases.set({ job_name: job }, isHeld ? 1 : 0),
    roundEnded(job, outcome, ms) {
      rounds.inc({ job_name: job, outcome })
      roundSeconds.set({ job_name: job }, ms / MS_PER_SECOND)
      if (outcome === 'ok') roundSucceeded.set({ job_name: job }, nowSeconds())
    },
    webhookAttempted: (outcome) => webhookAttempts.inc({ outcome }),
    tunnelRequested: (outcome) => tunnels.inc({ outcome }),
    webhooksUnderWay: (pool, count) => webhooksUnderWay.set({ pool }, count),
  }
}
