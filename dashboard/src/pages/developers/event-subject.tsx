import type { EventEnvelope } from '@bursar/server/src/console/contract/events.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { parseEventSubject } from '../../format/parse-event-subject.ts'

/** The subject of an event, for a table cell. */
export function EventSubject({ event }: { readonly event: EventEnvelope }) {
  const subject = parseEventSubject(event)
  if (subject === null || subject.kind === 'webhook') return <span className="text-muted">–</span>
  if (subject.kind === 'grant') return <span className="break-all">{subject.agentId}</span>
  return <AmountText usdc={subject.amountUsdc} />
}
