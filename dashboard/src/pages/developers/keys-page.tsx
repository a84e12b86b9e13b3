import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createKey, keysQuery } from '../../api/keys.ts'
import type { Mode } from '../../api/wire.ts'
import type { IssuedApiKey } from '../../api/wire-developers.ts'
import { Button } from '../../components/button.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LeaveGuard } from '../../components/leave-guard.tsx'
import { NameForm } from '../../components/name-form.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { isAdmin } from '../../roles.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { IssuedKey } from './issued-key.tsx'
import { KeyList } from './key-list.tsx'
import { NextStep } from './next-step.tsx'

const KEY_NAME_CHARS_MAX = 100

const LEADS: Readonly<Record<Mode, string>> = {
  test: 'With a key your programs pay and read over the REST API, here in test mode only.',
  live: 'With a key your programs pay and read over the REST API, here with real money.',
}

export function KeysPage() {
  const { slug, name, role, mode, to } = useWorkspace()
  const { data: keys, error, refetch } = useQuery(keysQuery(slug, mode))
  const client = useQueryClient()
  // Each stays until its secret is kept, whatever else is made meanwhile.
  const [issued, setIssued] = useState<readonly IssuedApiKey[]>([])
  const [hasKept, setKept] = useState(false)
  const [isCreating, setCreating] = useState(false)
  /** The list first: what asked for the secret is gone from it when the secret takes the focus. */
  const show = async (key: IssuedApiKey) => {
    setCreating(false)
    await client.invalidateQueries({ queryKey: keysQuery(slug, mode).queryKey })
    setIssued((before) => [key, ...before])
  }
  const mayWrite = isAdmin(role)
  const createButton = (
    <Button
      variant="primary"
      onClick={() => {
        setKept(false)
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
        actions={mayWrite && !isCreating && keys?.length !== 0 && createButton}
      />
      {issued.map((each) => (
        <IssuedKey
          key={each.key.id}
          issued={each}
          onKept={() => {
            setIssued((before) => before.filter((other) => other !== each))
            setKept(true)
          }}
        />
      ))}
      {issued.length > 0 && (
        <LeaveGuard
          title="Leave without the key?"
          lead="It is shown now and never again, and you have not said that you kept it."
          leaveLabel="Leave without it"
        />
      )}
      {hasKept && issued.length === 0 && (
        <NextStep text="Your key works from now on.">
          <ButtonLink to={to('developers', 'examples')}>See what to send with it</ButtonLink>
        </NextStep>
      )}
      {isCreating && (
        <Section title="Create a key" takesFocus>
          {mode === 'live' && (
            <Notice tone="warning">
              <p>
                Whoever has a live key spends real money, within what your grants allow. You will be asked for your
                passkey.
              </p>
            </Notice>
          )}
          <div className="max-w-md">
            <NameForm
              label="Name of the key"
              hint="Where it will be used: “Shop backend”, “Ada’s laptop”."
              submitLabel="Create the key"
              variant="primary"
              charsMax={KEY_NAME_CHARS_MAX}
              onSubmit={async (text) => show(await createKey(slug, mode, text))}
              onCancel={() => setCreating(false)}
            />
          </div>
        </Section>
      )}
      {keys === undefined && <QueryState error={error} onRetry={refetch} />}
      {keys?.length === 0 && !isCreating && (
        <EmptyState title={`No ${mode} key yet`} action={mayWrite && createButton}>
          {mayWrite
            ? 'Create one, and put it where your program reads its secrets.'
            : 'An admin of this workspace can create one.'}
        </EmptyState>
      )}
      {keys !== undefined && keys.length > 0 && <KeyList keys={keys} onRotated={show} />}
    </>
  )
}
