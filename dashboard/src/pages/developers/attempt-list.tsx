import type { DeliveryAttempt } from '@bursar/server/src/console/contract/deliveries.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatJson } from '../../format/format-json.ts'
import { explainAttempt } from '../../format/webhook-text.ts'

/** The attempts of a delivery, latest first, with their responses. */
export function AttemptList({ attempts }: { readonly attempts: readonly DeliveryAttempt[] }) {
  return (
    <ol className="divide-y divide-line rounded-xl border border-line bg-surface">
      {attempts.toReversed().map((attempt) => (
        <li key={attempt.number} className="grid gap-1 px-4 py-3.5 sm:px-5">
          <Attempt attempt={attempt} />
        </li>
      ))}
    </ol>
  )
}

function Attempt({ attempt }: { readonly attempt: DeliveryAttempt }) {
  const { number, at, status_code, duration_ms, response_body } = attempt
  const failure = explainAttempt(attempt)
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <strong>Attempt {number}</strong>
        <StatusBadge tone={failure === null ? 'success' : 'danger'}>{status_code ?? 'No response'}</StatusBadge>
        <span className="text-sm text-muted tabular-nums">
          <TimeText at={at} isExact /> · {duration_ms} ms
        </span>
      </p>
      {failure !== null && <p className="text-sm">{failure}</p>}
      {response_body === null || response_body === '' ? (
        status_code !== null && <p className="text-sm text-muted">The response had no body.</p>
      ) : (
        <Disclosure summary="Show response body">
          <CodeBlock what="Response body" copied="the response body" code={formatJson(response_body)} />
        </Disclosure>
      )}
    </>
  )
}
