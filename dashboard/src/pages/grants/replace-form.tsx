import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import type { Grant, GrantTerms } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { liveKey } from '../../api/query-key.ts'
import { prepareReplacement } from '../../api/grants.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { listChanges } from '../../format/grant-changes.ts'
import { toDraft, toTerms } from '../../format/grant-draft.ts'
import { parseSuggestion, withSuggestion } from '../../format/grant-suggestion.ts'
import { canSign } from '../../format/owner-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { ChangesList } from './changes-list.tsx'
import { FormWithSummary } from './form-with-summary.tsx'
import { GrantSentence, toDraftValues } from './grant-sentence.tsx'
import { SignatureNote } from './signature-note.tsx'
import { DraftNotice } from './draft-notice.tsx'
import { useSignedTerms } from './signed-terms.tsx'
import { TermsFields } from './terms-fields.tsx'
import { isFieldError, termsErrors } from './terms-errors.ts'
import { useDraft } from './use-draft.ts'
import { useAction } from '../../components/use-action.ts'

interface ReplaceFormProps {
  readonly grant: Grant
  readonly recipients: readonly Recipient[]
  /** The wallet of the grant. Null while loading. */
  readonly wallet: Wallet | null
}

/** The form that changes the terms of a grant by creating a replacement. */
export function ReplaceForm({ grant, recipients, wallet }: ReplaceFormProps) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const sentenceId = useId()
  const [wasSubmitted, setSubmitted] = useState(false)
  const [parameters] = useSearchParams()
  const known = recipients.map(({ address }) => address)
  const suggestion = parseSuggestion(parameters)
  const { draft, parsed, change, isRestored, forget, startOver } = useDraft(`${grant.id} ${parameters}`, () => {
    const current = toDraft(grant, known)
    return suggestion === null ? current : withSuggestion(current, suggestion, known)
  })
  const terms = toTerms(parsed)
  const changes = terms === null ? null : listChanges(grant, terms)
  const { data: signed } = useSignedTerms(grant)
  // A suspended grant may be replaced with the same terms, because a signed replacement lets the agent pay again. So may
  // a grant whose 24-hour limit is not part of the signature yet.
  const mayStaySame = grant.state !== 'active' || (signed?.state === 'same' && signed.daily_cap_usdc === null)
  const hasNoChanges = !mayStaySame && changes !== null && changes.terms.length === 0
  const preparation = useAction({
    mutationFn: (next: GrantTerms) => prepareReplacement(slug, grant.id, next),
    onSuccess: async (next) => {
      forget()
      await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
      await navigate(to('grants', next.id))
    },
  })
  const submit = () => {
    setSubmitted(true)
    if (terms !== null && !hasNoChanges && !preparation.isPending) preparation.mutate(terms)
  }
  const parties = { agentId: grant.agent_id, walletName: grant.wallet_name }
  const values = toDraftValues({ draft, parsed }, { ...parties, recipients })
  return (
    <FormWithSummary
      error={preparation.error}
      onSubmit={submit}
      summary={
        <>
          <h2 className="font-bold">Summary</h2>
          <GrantSentence id={sentenceId} values={values} />
          {changes !== null && (
            <div className="grid gap-3 border-t border-line pt-4">
              <h3 className="font-bold">Changes</h3>
              <ChangesList changes={changes} recipients={recipients} />
            </div>
          )}
          {wallet !== null && <SignatureNote wallet={wallet} creates="replacement" />}
          {!isFieldError(preparation.error) && <ErrorNotice error={preparation.error} />}
          <Button
            type="submit"
            variant="primary"
            wide
            aria-describedby={sentenceId}
            disabled={hasNoChanges}
            isBusy={preparation.isPending}
          >
            {wallet !== null && !canSign(wallet) ? 'Create replacement' : 'Review and sign'}
          </Button>
        </>
      }
    >
      <DraftNotice suggestion={suggestion} isRestored={isRestored} onStartOver={startOver} />
      <TermsFields
        draft={draft}
        parsed={parsed}
        errors={
          wasSubmitted ? { ...termsErrors(preparation.error, preparation.variables, parsed), ...parsed.errors } : {}
        }
        recipients={recipients}
        onChange={change}
      />
    </FormWithSummary>
  )
}
