import { useQuery } from '@tanstack/react-query'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { signedTermsQuery } from '../../api/queries.ts'
import { Notice } from '../../components/notice.tsx'
import { formatAmount } from '../../format/amount.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** What the enclave's record says about the terms of a grant. Only active grants have terms there. */
export function useSignedTerms({ id, status }: Pick<Grant, 'id' | 'status'>) {
  const { slug } = useWorkspace()
  return useQuery({ ...signedTermsQuery(slug, id), enabled: status === 'active' })
}

/** Says what the owner's signature covers. */
export function SignedTermsText({ grant }: { readonly grant: Grant }) {
  const { data: signed, isError } = useSignedTerms(grant)
  if (isError) return 'The enclave could not be read, so the terms were not compared with what was signed.'
  if (signed === undefined) return 'Comparing with the enclave’s record…'
  if (signed.state === 'different') return 'The enclave’s record has other terms.'
  if (signed.state === 'not_enforced')
    return 'The enclave has no rules for this grant now. If somebody has just signed a change, repeat it, so that its result is recorded.'
  if (signed.daily_cap_usdc !== null) return 'Covers all terms. The enclave’s record has the same terms.'
  return 'This grant was signed before the 24-hour limit was part of the signature. To sign the limit too, replace the grant with the same terms.'
}

/** Shown if the terms in the database are not those that an owner signed. */
export function ChangedTermsNotice({ grant }: { readonly grant: Grant }) {
  const { data: signed } = useSignedTerms(grant)
  if (signed?.state !== 'different') return null
  const cap = signed.daily_cap_usdc
  return (
    <div role="alert">
      <Notice tone="danger">
        <p>
          <strong>These are not the terms that an owner signed.</strong>{' '}
          {cap !== null &&
            cap !== grant.daily_cap_usdc &&
            `The owner signed a 24-hour limit of ${formatAmount(cap)} USDC, and here it is ${formatAmount(grant.daily_cap_usdc)} USDC. `}
          Suspend the grant, and tell the operator of this server.
        </p>
      </Notice>
    </div>
  )
}
