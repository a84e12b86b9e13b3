import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { IssuedApiKey } from '@bursar/server/src/console/contract/keys.ts'
import { keysQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useNewForm } from '../../components/use-new-form.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { HeldKeys } from './held-keys.tsx'
import { KeyForm } from './key-form.tsx'
import { KeyList } from './key-list.tsx'
import { NextStep } from './next-step.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { TimeText } from '../../components/time-text.tsx'

const LEADS: Readonly<Record<Mode, string>> = {
  test: 'Your programs use API keys to send payments and read data, over the REST API or MCP. These keys work in test mode only.',
  live: 'Your programs use API keys to send payments and read data, over the REST API or MCP. These keys move real money.',
}

export function KeysPage() {
  const { slug, name, role, mode, to } = useWorkspace()
  const { data: keys, error, refetch } = useQuery(keysQuery(slug, mode))
  const client = useQueryClient()
  // Each new key stays visible until the user confirms that the secret is saved, even if more keys are created.
  const [issued, setIssued] = useState<readonly IssuedApiKey[]>([])
  const [hasSaved, setSaved] = useState(false)
  const [isCreating, setCreating] = useNewForm()
  /**
   * Refreshes the list first, and only then shows the secret, which takes the focus. The refresh may remove the button
   * that has the focus. If the list were refreshed last, the focus could be lost.
   */
  const show = async (key: IssuedApiKey) => {
    setCreating(false)
    await client.invalidateQueries({ queryKey: keysQuery(slug, mode).queryKey })
    setIssued((before) => [key, ...before])
  }
  const mayWrite = may(role, 'manageKeys')
  const createButton = (
    <Button
      variant="primary"
      onClick={() => {
        setSaved(false)
        setCreating(true)
      }}
    >
      Create a key
    </Button>
  )
  return (
    <>
      <PageHeading
        title="API keys"
        breadcrumb={name}
        lead={LEADS[mode]}
        actions={mayWrite && !isCreating && keys !== undefined && keys.length > 0 && createButton}
      />
      <HeldKeys />
      {issued.map((each) => (
        <IssuedKey
          key={each.key.id}
          issued={each}
          onSaved={() => {
            setIssued((before) => before.filter((other) => other !== each))
            setSaved(true)
          }}
        />
      ))}
      {issued.length > 0 && (
        <LeaveGuard
          title="Leave without the key?"
          lead="You won’t be able to see this key again."
          leaveLabel="Leave without it"
        />
      )}
      {hasSaved && issued.length === 0 && (
        <NextStep text="Your key is ready.">
          <ButtonLink to={to('developers', 'examples')}>See example requests</ButtonLink>
        </NextStep>
      )}
      {isCreating && (
        <Section title="Create a key" takesFocus>
          {mode === 'live' && (
            <Notice tone="warning">
              <p>
                Anyone who has a live key can spend real money, within the limits of your grants. You will be asked for
                your passkey.
              </p>
            </Notice>
          )}
          <KeyForm
            onSubmit={async (terms) => {
              const input = { params: { slug }, body: { mode, ...terms } }
              await show(await request('POST /console/workspaces/:slug/keys', input))
            }}
            onCancel={() => setCreating(false)}
          />
        </Section>
      )}
      {keys === undefined && <QueryState error={error} onRetry={refetch} />}
      {keys?.length === 0 && !isCreating && (
        <EmptyState title={`No ${mode} key yet`} action={mayWrite && createButton}>
          {mayWrite
            ? 'Create a key and store it where your program reads its secrets.'
            : 'An owner or admin of this workspace can create a key.'}
        </EmptyState>
      )}
      {keys !== undefined && keys.length > 0 && <KeyList keys={keys} onRotated={show} />}
    </>
  )
}

/** The secret of a new key, which is shown only once. */
function IssuedKey({ issued, onSaved }: { readonly issued: IssuedApiKey; readonly onSaved: () => void }) {
  const { key, secret, grace_until } = issued
  return (
    <Section
      title={grace_until === undefined ? `“${key.name}” is ready` : `The new key for “${key.name}”`}
      lead={
        grace_until !== undefined && (
          <>
            Both keys work until <TimeText at={grace_until} isExact />. Replace the old key by then.
          </>
        )
      }
      takesFocus
    >
      <OneTimeSecret label="API key" secret={secret} what="the key" />
      <CodeBlock what="For your shell" copied="the command for your shell" code={`export BURSAR_KEY=${secret}`} />
      <p>
        <Button variant="primary" onClick={onSaved}>
          I have saved it
        </Button>
      </p>
    </Section>
  )
}
