import { useId, useRef, useState, type SubmitEvent } from 'react'
import { flushSync } from 'react-dom'
import type { Scope } from '@bursar/server/src/console/contract/connections.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { ensureVerified } from '../../api/verify.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Notice } from '../../components/notice.tsx'
import { useSettled } from './use-settled.ts'

type Choice = 'approve' | 'deny'

interface DecisionFormProps {
  readonly handle: string
  readonly host: string
  readonly workspace: Workspace | null
  readonly mode: Mode
  readonly agentId: string | null
  readonly scopes: readonly Scope[]
  /** Why the request can't be approved now. Null if it can. */
  readonly blocker: string | null
}

/**
 * The decision. It is a native form, because the response is a redirect to the application, which only a real
 * navigation can follow. The form has no text field, so the Enter key cannot submit it by accident.
 */
export function DecisionForm({ handle, host, workspace, mode, agentId, scopes, blocker }: DecisionFormProps) {
  const id = useId()
  const isSettled = useSettled()
  const [sent, setSent] = useState<Choice | null>(null)
  // An approval grants access beyond this session, so the server requires a passkey proof from the last ten minutes.
  const isVerified = useRef(false)
  const [verification, setVerification] = useState<{ readonly isPending: boolean; readonly error?: unknown }>({
    isPending: false,
  })

  const verifyAndSubmit = async (form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> => {
    setVerification({ isPending: true })
    try {
      await ensureVerified()
    } catch (error) {
      setVerification({ isPending: false, error })
      return
    }
    isVerified.current = true
    flushSync(() => setVerification({ isPending: false }))
    form.requestSubmit(submitter)
    isVerified.current = false
  }

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    const choice = readChoice(event.nativeEvent)
    // A passkey prompt takes the focus from the page, so `useSettled` returns false right after the prompt. The
    // approval is still safe, because the user has just proved their presence.
    const isBlocked = choice === 'approve' && ((!isSettled && !isVerified.current) || blocker !== null)
    const needsVerification = choice === 'approve' && !isVerified.current
    if (sent !== null || verification.isPending || choice === null || isBlocked || needsVerification)
      event.preventDefault()
    if (sent !== null || verification.isPending || choice === null || isBlocked) return
    if (needsVerification) {
      void verifyAndSubmit(event.currentTarget, event.nativeEvent.submitter)
      return
    }
    // The browser reads the form fields after this handler returns. By then the choice is in its field and the buttons
    // are disabled, so that a double click submits only once.
    flushSync(() => setSent(choice))
  }

  return (
    <form
      method="post"
      action="/oauth/consent"
      className="grid gap-6 border-t border-line pt-6 lg:grid-cols-[5fr_6fr] lg:gap-12"
      onSubmit={submit}
    >
      <input type="hidden" name="request" value={handle} />
      <input type="hidden" name="workspace" value={workspace?.slug ?? ''} disabled={workspace === null} />
      <input type="hidden" name="mode" value={mode} disabled={workspace === null} />
      <input type="hidden" name="agent_id" value={agentId ?? ''} disabled={agentId === null} />
      <input type="hidden" name="scope" value={scopes.join(' ')} />
      <input type="hidden" name="decision" value={sent ?? ''} />
      <ul className="grid content-start gap-2 text-sm text-muted">
        <li>You can disconnect the application at any time, in the dashboard under Connections.</li>
        <li>The signed limits of the agent always apply. The application can’t raise them.</li>
      </ul>
      <div className="grid min-w-0 content-start gap-4">
        {mode === 'live' && workspace !== null && (
          <Notice tone="warning">
            <p>
              <strong>This is live mode.</strong> The application spends real money of {workspace.name}.
            </p>
          </Notice>
        )}
        <p id={`${id}-blocker`} role="status" className={blocker === null ? 'sr-only' : 'font-semibold'}>
          {blocker}
        </p>
        <div className="grid gap-3 sm:grid-cols-2">
          <Button
            type="submit"
            value="approve"
            variant="primary"
            aria-describedby={`${id}-blocker`}
            // Not `disabled`: a disabled button would lose the focus when the user returns to this window.
            aria-disabled={!isSettled}
            disabled={sent === 'deny' || blocker !== null}
            isBusy={sent === 'approve' || verification.isPending}
          >
            Approve
          </Button>
          <Button
            type="submit"
            value="deny"
            disabled={sent === 'approve' || verification.isPending}
            isBusy={sent === 'deny'}
          >
            Deny
          </Button>
        </div>
        <ErrorNotice error={verification.error} />
        <p role="status" className={sent === null ? 'sr-only' : 'text-muted'}>
          {sent !== null && `Returning to ${host}. If nothing happens, reload this page.`}
        </p>
      </div>
    </form>
  )
}

function readChoice({ submitter }: globalThis.SubmitEvent): Choice | null {
  const value = submitter instanceof HTMLButtonElement ? submitter.value : null
  return value === 'approve' || value === 'deny' ? value : null
}
