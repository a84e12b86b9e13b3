import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import type { RefusedRequest } from '@bursar/server/src/console/contract/refusals.ts'
import { refusalQuery, walletsQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { formatResource } from '../../format/format-resource.ts'
import { formatReason } from '../../format/refusal-text.ts'
import { ItemState } from '../workspace/item-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { RecipientAddress } from './recipient-address.tsx'
import { RecipientText } from './recipient-text.tsx'
import { formatErrorResponse } from './refusal-checks.ts'
import { RefusalAdvice } from './refusal-advice.tsx'
import { RefusalTimeline } from './refusal-timeline.tsx'

export function RefusalPage() {
  const { slug, mode, to } = useWorkspace()
  const { id = '' } = useParams()
  const { data: refusal, error, refetch } = useQuery(refusalQuery(slug, mode, id))
  const breadcrumb = <TextLink to={`${to('payments')}?status=refused`}>Rejected requests</TextLink>
  if (refusal === undefined) {
    return (
      <>
        <PageHeading title="Rejected request" breadcrumb={breadcrumb} />
        <ItemState
          noun="rejected request"
          error={error}
          onRetry={refetch}
          lines={9}
          find={(other) =>
            request('GET /console/workspaces/:slug/refusals/:id', { params: { slug, id }, query: { mode: other } })
          }
        />
      </>
    )
  }
  return (
    <>
      <PageHeading
        title={`Rejected: ${formatReason(refusal)}`}
        breadcrumb={breadcrumb}
        lead={
          <>
            <AmountText usdc={refusal.amount_usdc} isStrong /> by <bdi>{refusal.agent_id}</bdi> to{' '}
            {refusal.resource_url === null ? (
              <RecipientText address={refusal.to} />
            ) : (
              <bdi className="wrap-anywhere">{formatResource(refusal.resource_url)}</bdi>
            )}
          </>
        }
      />
      <Section title="What to do next">
        <RefusalAdvice refusal={refusal} />
      </Section>
      <div className="grid grid-cols-1 items-start gap-8 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Section title="Timeline">
          <RefusalTimeline refusal={refusal} />
        </Section>
        <div className="grid grid-cols-1 gap-8">
          <Section title="Response to the agent">
            <CodeBlock what="Response" copied="the response" code={formatErrorResponse(refusal)} />
          </Section>
          <Section title="Details">
            <RefusalProperties refusal={refusal} />
          </Section>
        </div>
      </div>
    </>
  )
}

function RefusalProperties({
  refusal: { id, wallet, to: recipient, resource_url, memo, idempotency_key },
}: {
  readonly refusal: RefusedRequest
}) {
  return (
    <DescriptionList>
      {resource_url !== null && (
        <DescriptionItem term="Resource">
          <bdi className="font-mono text-sm wrap-anywhere">{resource_url}</bdi>
        </DescriptionItem>
      )}
      <DescriptionItem term="From">
        <SourceText address={wallet} />
      </DescriptionItem>
      <DescriptionItem term="To">
        <RecipientAddress address={recipient} />
      </DescriptionItem>
      {memo !== null && (
        <DescriptionItem term="Memo">
          <bdi>{memo}</bdi>
        </DescriptionItem>
      )}
      {idempotency_key !== null && (
        <DescriptionItem term="Idempotency key">
          <CodeText text={idempotency_key} what="the idempotency key" />
        </DescriptionItem>
      )}
      <DescriptionItem term="Request ID">
        <CodeText text={id} what="the request ID" />
      </DescriptionItem>
    </DescriptionList>
  )
}

/** The wallet of the request, with a link if the wallet exists. */
function SourceText({ address }: { readonly address: string }) {
  const { slug, mode, to } = useWorkspace()
  const { data: wallets } = useQuery(walletsQuery(slug, mode))
  const wallet = wallets?.find((candidate) => candidate.address === address)
  if (wallet === undefined) return <CodeText text={address} what="the wallet address" />
  return (
    <>
      <TextLink to={to('wallets', address)}>
        <bdi>{wallet.name}</bdi>
      </TextLink>{' '}
      <CodeText text={address} what="the wallet address" isShort />
    </>
  )
}
