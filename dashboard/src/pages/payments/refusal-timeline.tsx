import type { RefusedRequest } from '@bursar/server/src/console/contract/refusals.ts'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { Timeline, TimelineStep } from '../../components/timeline.tsx'
import { formatRefusal } from '../../format/refusal-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { CHECK_TITLES, CheckText } from './check-text.tsx'
import { CredentialText } from './credential-text.tsx'
import { listChecks } from './refusal-checks.ts'

/** The checks of a rejected request: those that passed, the one that failed, and those that were skipped. */
export function RefusalTimeline({ refusal }: { readonly refusal: RefusedRequest }) {
  const { to } = useWorkspace()
  const { agent_id, code, credential, created_at, message, mode, resource_url } = refusal
  const checks = listChecks(code, { mode, isPurchase: resource_url !== null })
  return (
    <Timeline label="Timeline">
      <TimelineStep state="done" title="Requested" at={<TimeText at={created_at} hasSeconds />}>
        <p>
          By the agent{' '}
          {code === 'agent_not_found' ? (
            <bdi>{agent_id}</bdi>
          ) : (
            <TextLink to={to('agents', agent_id)}>{agent_id}</TextLink>
          )}
          , with <CredentialText credential={credential} />.
        </p>
      </TimelineStep>
      {checks === null && (
        <TimelineStep state="failed" title="Rejected">
          <p>{message}</p>
        </TimelineStep>
      )}
      {checks?.map((check) => (
        <TimelineStep
          key={check.code}
          state={check.state}
          title={check.state === 'failed' ? formatRefusal(refusal) : CHECK_TITLES[check.code]}
        >
          {check.state === 'failed' && <CheckText code={check.code} refusal={refusal} />}
        </TimelineStep>
      ))}
      <TimelineStep state="skipped" title="Reserved, signed, confirmed">
        <p>Nothing was reserved, and no money moved.</p>
      </TimelineStep>
    </Timeline>
  )
}
