import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Grant, GrantTerms } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { createAgent } from '../../api/agents.ts'
import { liveKey } from '../../api/query-key.ts'
import { createGrant } from '../../api/grants.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { fieldErrors } from '../../format/field-errors.ts'
import { createDraft, toTerms } from '../../format/grant-draft.ts'
import { parseSuggestion, withSuggestion } from '../../format/grant-suggestion.ts'
import { canSign } from '../../format/owner-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { type AgentChoice, AgentField } from './agent-field.tsx'
import { DraftNotice } from './draft-notice.tsx'
import { FormWithSummary } from './form-with-summary.tsx'
import { GrantSentence, toDraftValues } from './grant-sentence.tsx'
import { SignatureNote } from './signature-note.tsx'
import { TermsFields } from './terms-fields.tsx'
import { isFieldError, termsErrors } from './terms-errors.ts'
import { useStoredState } from '../../components/use-stored-state.ts'
import { useDraft, useDraftKey } from './use-draft.ts'
import { WalletField } from './wallet-field.tsx'
import { useAction } from '../../components/use-action.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'

interface NewGrantFormProps {
  readonly agents: readonly Agent[]
  readonly wallets: readonly Wallet[]
  /** The grants of this mode, to detect that the agent already has a grant on the wallet. */
  readonly grants: readonly Grant[]
  readonly recipients: readonly Recipient[]
}

/** Whom the grant is for. */
interface Parties {
  readonly agent: AgentChoice
  /** The address of the wallet, or empty. */
  readonly address: string
}

/**
 * The form for a new grant. The owner signs the grant afterwards on its own page, which shows it exactly as the server
 * stores it.
 */
export function NewGrantForm({ agents, wallets, grants, recipients }: NewGrantFormProps) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const sentenceId = useId()
  const [parameters] = useSearchParams()
  const parties = useStoredState({
    key: useDraftKey(`new ${parameters}, its parties`),
    parse: parseParties,
    first: (): Parties => ({
      agent: firstAgent(agents, parameters.get('agent')),
      address: firstWallet(wallets, parameters.get('wallet')),
    }),
  })
  const { agent, address } = parties.value
  const setParties = (part: Partial<Parties>) => parties.change((before) => ({ ...before, ...part }))
  const [wasSubmitted, setSubmitted] = useState(false)
  const suggestion = parseSuggestion(parameters)
  const { draft, parsed, change, isRestored, forget, startOver } = useDraft(`new ${parameters}`, () => {
    const known = recipients.map((recipient) => recipient.address)
    const empty = createDraft(new Date())
    return suggestion === null ? empty : withSuggestion(empty, suggestion, known)
  })

  const agentId = agent.id.trim() === '' ? null : agent.id.trim()
  const wallet = wallets.find((candidate) => candidate.address === address) ?? null
  const existing = grants.find(
    (grant) => grant.status !== 'revoked' && grant.agent_id === agentId && grant.wallet === address,
  )
  const terms = toTerms(parsed)
  const creation = useAction({
    mutationFn: async (grant: GrantTerms & { readonly agent_id: string; readonly wallet: string }) => {
      // If the agent already exists, the server returns it unchanged.
      if (agent.isNew) await createAgent(slug, mode, grant.agent_id)
      return await createGrant(slug, { mode, ...grant })
    },
    onSuccess: async (grant) => {
      forget()
      parties.forget()
      await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
      await navigate(to('grants', grant.id))
    },
  })
  const submit = () => {
    setSubmitted(true)
    if (creation.isPending || existing !== undefined || terms === null || agentId === null || wallet === null) return
    creation.mutate({ ...terms, agent_id: agentId, wallet: wallet.address })
  }

  const agentError = fieldErrors(creation.error)['id']
  const errors = wasSubmitted ? { ...termsErrors(creation.error, creation.variables, parsed), ...parsed.errors } : {}
  const values = toDraftValues({ draft, parsed }, { agentId, walletName: wallet?.name ?? null, recipients })
  return (
    <FormWithSummary
      error={creation.error}
      onSubmit={submit}
      summary={
        <>
          <h2 className="font-bold">Summary</h2>
          <GrantSentence id={sentenceId} values={values} />
          {existing !== undefined && <ExistingGrantNotice grant={existing} />}
          {wallet !== null && existing === undefined && <SignatureNote wallet={wallet} creates="grant" />}
          {!isFieldError(creation.error) && agentError === undefined && <ErrorNotice error={creation.error} />}
          <Button
            type="submit"
            variant="primary"
            wide
            aria-describedby={sentenceId}
            disabled={existing !== undefined}
            isBusy={creation.isPending}
          >
            {wallet !== null && !canSign(wallet) ? 'Create grant' : 'Review and sign'}
          </Button>
        </>
      }
    >
      <DraftNotice
        suggestion={suggestion}
        isRestored={isRestored || parties.isRestored}
        onStartOver={() => {
          startOver()
          parties.startOver()
        }}
      />
      <AgentField
        agents={agents}
        choice={agent}
        error={wasSubmitted && agentId === null ? 'Choose an agent or enter the ID of a new one.' : agentError}
        onChange={(choice) => setParties({ agent: choice })}
      />
      <WalletField
        wallets={wallets}
        address={address}
        error={wasSubmitted && wallet === null ? 'Choose a wallet.' : undefined}
        onChange={(choice) => setParties({ address: choice })}
      />
      <TermsFields draft={draft} parsed={parsed} errors={errors} recipients={recipients} onChange={change} />
    </FormWithSummary>
  )
}

function parseParties(stored: unknown): Parties | null {
  if (typeof stored !== 'object' || stored === null || !('agent' in stored) || !('address' in stored)) return null
  const { agent, address } = stored
  if (typeof agent !== 'object' || agent === null || !('id' in agent) || !('isNew' in agent)) return null
  const { id, isNew } = agent
  return typeof id === 'string' && typeof isNew === 'boolean' && typeof address === 'string'
    ? { agent: { id, isNew }, address }
    : null
}

function firstAgent(agents: readonly Agent[], wanted: string | null): AgentChoice {
  const known = agents.find(({ id }) => id === wanted) ?? (agents.length === 1 ? agents[0] : undefined)
  return { id: known?.id ?? '', isNew: agents.length === 0 }
}

function firstWallet(wallets: readonly Wallet[], wanted: string | null): string {
  const known = wallets.find(({ address }) => address === wanted) ?? (wallets.length === 1 ? wallets[0] : undefined)
  return known?.address ?? ''
}

/**
 * Says that the agent already has a grant on the wallet, because an agent can have only one grant per wallet. Links to
 * the page on which a person can sign, discard or replace that grant.
 */
function ExistingGrantNotice({ grant }: { readonly grant: Grant }) {
  const { to } = useWorkspace()
  return (
    <div role="status">
      <Notice tone="warning">
        <p>
          <bdi className="font-semibold">{grant.agent_id}</bdi> already has a grant on{' '}
          <bdi className="font-semibold">{grant.wallet_name}</bdi>.{' '}
          {grant.status === 'pending' ? (
            <>
              That grant is awaiting signature. <TextLink to={to('grants', grant.id)}>Sign or discard it</TextLink>.
            </>
          ) : (
            <>
              <TextLink to={to('grants', grant.id, 'replace')}>Replace this grant</TextLink> instead.
            </>
          )}
        </p>
      </Notice>
    </div>
  )
}
