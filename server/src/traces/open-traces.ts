import { setTimeout as delay } from 'node:timers/promises'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import type { Logger } from '../lib/logger.ts'
import type { Measurements } from '../lib/measurements.ts'
import { VERSION } from '../lib/version.ts'
import { traceMeasurements } from './trace-measurements.ts'

/** So many spans wait for the collector at most. Further spans are dropped. */
const WAITING_SPANS_MAX = 4_096
const BATCH_SPANS_MAX = 512
const BATCH_INTERVAL_MS = 2_000
/** How long the collector may take for a batch, with all tries. Then the batch is dropped. */
const EXPORT_MS_MAX = 5_000
/** How long a stop waits for the collector. */
const FLUSH_MS_MAX = 2_000

export interface TraceSettings {
  /** The URL of the collector, without `/v1/traces`. */
  readonly endpoint: string
  /** Which share of the requests and rounds is recorded, from 0 to 1. */
  readonly ratio: number
  readonly serviceName: string
}

export interface Traces {
  /** The given measurements, which also record traces. */
  readonly measurements: Measurements
  /** Sends the spans that wait to the collector, which may take `FLUSH_MS_MAX`. */
  close(): Promise<void>
}

/**
 * Sends traces to an OpenTelemetry collector (D75). Whether a trace is recorded is decided here only: the header
 * `traceparent` of a request is ignored, because any client of a public API could send it. If the collector is slow or
 * away, spans are dropped, and nothing else waits for it.
 */
export function openTraces(
  { endpoint, ratio, serviceName }: TraceSettings,
  { measurements, role, logger }: { measurements: Measurements; role: string; logger: Logger },
): Traces {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_MS_MAX,
  })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': VERSION,
      'bursar.role': role,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportFailures(exporter, logger),
        maxQueueSize: WAITING_SPANS_MAX,
        maxExportBatchSize: BATCH_SPANS_MAX,
        scheduledDelayMillis: BATCH_INTERVAL_MS,
      }),
    ],
  })
  return {
    measurements: traceMeasurements(measurements, provider.getTracer('bursar')),
    async close() {
      const limit = new AbortController()
      // Failures were reported by the exporter.
      const flushed = provider.shutdown().catch(() => undefined)
      const { signal } = limit
      await Promise.race([flushed, delay(FLUSH_MS_MAX, undefined, { signal }).catch(() => undefined)])
      limit.abort()
    },
  }
}

/** Returns the same exporter, which writes a line to the log when the collector fails, and when it works again. */
function reportFailures(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isFailing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result
        if (error !== undefined && !isFailing) {
          logger.warn({ fault: error.message, spans: spans.length }, 'traces could not be sent to the collector')
        }
        if (error === undefined && isFailing) logger.info('traces are sent to the collector again')
        isFailing = error !== undefined
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}
