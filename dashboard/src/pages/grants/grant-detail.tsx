import { useQuery } from '@tanstack/react-query'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { grantsQuery, walletQuery } from '../../api/queries.ts'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { explainGrantState } from '../../format/grant-state-text.ts'
import { canSign } from '../../format/owner-text.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { SignerStatus } from '../../components/signer-status.tsx'
import { LatestPayments } from '../payments/latest-payments.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { CannotSignText } from './cannot-sign-text.tsx'
import { GrantActions } from './grant-actions.tsx'
import { GrantBadge } from './grant-badge.tsx'
import { GrantProperties } from './grant-properties.tsx'
import { GrantSentence, toSentenceValues } from './grant-sentence.tsx'
import { RecipientList } from './recipient-list.tsx'
import { ChangedTermsNotice } from './signed-terms.tsx'
import { SigningPanel } from './signing-panel.tsx'
import { SpentMeter } from './spent-meter.tsx'
import { type Superseded, useGrantActions } from './use-grant-actions.ts'
import { useRecipients } from './use-recipients.ts'
import { CheckIcon } from '../../components/check-icon.tsx'
import { Notice } from '../../components/notice.tsx'

/** A grant with its terms, properties and actions. */
export function GrantDetail({ grant }: { readonly grant: Grant }) {
  const { slug, mode, role, to } = useWorkspace()
  const { list: recipients } = useRecipients()
  const { data: wallet = null } = useQuery(walletQuery(slug, mode, grant.wallet))
  const actions = useGrantActions(grant, recipients)
  const { signature } = actions
  return (
    <>
      <PageHeading
        title={`Grant for ${grant.agent_id}`}
        breadcrumb={<TextLink to={to('grants')}>Grants</TextLink>}
        lead={
          <span className="grid justify-items-start gap-2">
            <GrantBadge state={grant.state} />
            <span>{explainGrantState(grant)}</span>
          </span>
        }
        actions={may(role, 'manageGrants') && <GrantActions grant={grant} wallet={wallet} actions={actions} />}
      >
        Grant for <bdi className="wrap-anywhere">{grant.agent_id}</bdi>
      </PageHeading>
      {actions.superseded !== null && <SupersededNotice superseded={actions.superseded} />}
      {signature.data?.state === 'active' && grant.state === 'active' && <SignedNotice grant={grant} />}
      {grant.status === 'active' && <ChangedTermsNotice grant={grant} />}
      {grant.status === 'active' && <PendingReplacementNotice grant={grant} />}
      <section aria-label="Terms" className="grid gap-5 rounded-xl border border-line bg-surface p-5 sm:p-6">
        <h2 className="font-bold">Terms of the grant</h2>
        <GrantSentence values={toSentenceValues(grant, recipients)} />
        <RecipientList addresses={grant.recipient_allowlist} recipients={recipients} />
        {grant.state === 'pending' && (
          <SigningPanel grant={grant} wallet={wallet} recipients={recipients} signature={signature} />
        )}
        {grant.state === 'active' && (
          <div className="border-t border-line pt-5">
            <SpentMeter grant={grant} />
          </div>
        )}
        {grant.status === 'active' && wallet !== null && !canSign(wallet) && (
          <div className="grid gap-2 text-[0.9375rem] text-muted">
            <CannotSignText wallet={wallet} />
            {grant.state === 'active' && <p>Suspending the grant needs no signature.</p>}
          </div>
        )}
        <SignerStatus signer={signature} />
      </section>
      <Section title="Details">
        <GrantProperties grant={grant} wallet={wallet} />
      </Section>
      {grant.activated_at !== null && <LatestPayments filter={{ agent: grant.agent_id, wallet: grant.wallet }} />}
    </>
  )
}

/** Shown right after signing: confirms it, and links to the next step. */
function SignedNotice({ grant }: { readonly grant: Grant }) {
  const { to } = useWorkspace()
  return (
    <p
      role="status"
      className="flex items-start gap-3 rounded-lg border border-success-line bg-success-soft px-4 py-3 text-success"
    >
      <CheckIcon className="mt-0.5 size-5 shrink-0" />
      <span>
        <strong>Signed.</strong> <bdi>{grant.agent_id}</bdi> can pay now. Next,{' '}
        <TextLink to={to('developers', 'examples')}>send a payment</TextLink>.
      </span>
    </p>
  )
}

/** Shown if a replacement for this grant is awaiting signature. */
function PendingReplacementNotice({ grant }: { readonly grant: Grant }) {
  const { slug, mode, to } = useWorkspace()
  const { data: grants } = useQuery(grantsQuery(slug, mode, { agent: grant.agent_id, wallet: grant.wallet }))
  const replacement = grants?.find(({ replaces, status }) => replaces === grant.id && status === 'pending')
  if (replacement === undefined) return null
  return (
    <Notice tone="warning">
      <p>
        A replacement for this grant is awaiting signature.{' '}
        <TextLink to={to('grants', replacement.id)}>Review the replacement</TextLink>
      </p>
    </Notice>
  )
}

/**
 * Shown if the grant ended before the user could suspend or revoke it. The agent may still be able to pay under another
 * grant.
 */
function SupersededNotice({ superseded: { by } }: { readonly superseded: Superseded }) {
  const { to } = useWorkspace()
  return (
    <div role="alert">
      <Notice tone="warning">
        <p>
          {by === null ? (
            'This grant has been revoked meanwhile. No further action is needed.'
          ) : (
            <>
              Nothing was changed, because this grant has been replaced meanwhile. The agent can still pay under the
              newer grant. <TextLink to={to('grants', by)}>Open the newer grant</TextLink>
            </>
          )}
        </p>
      </Notice>
    </div>
  )
}
