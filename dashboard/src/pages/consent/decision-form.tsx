import { useId, useRef, useState, type SubmitEvent } from 'react'
import { flushSync } from 'react-dom'
import { ensureVerified } from '../../api/verify.ts'
import type { Mode, Scope, Workspace } from '../../api/wire.ts'
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
  /** Why it can't be approved as things stand. */
  readonly blocker: string | null
}

/**
 * The answer, as a form that the browser itself sends: what comes back is a redirect to the application, which only a
 * real navigation follows. It has no field to type in, so no Enter key sends it by accident.
 */
export function DecisionForm({ handle, host, workspace, mode, agentId, scopes, blocker }: DecisionFormProps) {
  const id = useId()
  const isSettled = useSettled()
  const [sent, setSent] = useState<Choice | null>(null)
  // What an approval hands out outlives the session: the server refuses it without a proof of the last ten minutes.
  const isProved = useRef(false)
  const [proving, setProving] = useState<{ readonly isUnderWay: boolean; readonly error?: unknown }>({
    isUnderWay: false,
  })

  const proveAndSend = async (form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> => {
    setProving({ isUnderWay: true })
    try {
      await ensureVerified()
    } catch (error) {
      setProving({ isUnderWay: false, error })
      return
    }
    isProved.current = true
    flushSync(() => setProving({ isUnderWay: false }))
    form.requestSubmit(submitter)
    isProved.current = false
  }

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    const choice = readChoice(event.nativeEvent)
    // The passkey's own window had the focus, so the page has just got it back.
    const isRefused = choice === 'approve' && ((!isSettled && !isProved.current) || blocker !== null)
    const isUnproved = choice === 'approve' && !isProved.current
    if (sent !== null || proving.isUnderWay || choice === null || isRefused || isUnproved) event.preventDefault()
    if (sent !== null || proving.isUnderWay || choice === null || isRefused) return
    if (isUnproved) {
      void proveAndSend(event.currentTarget, event.nativeEvent.submitter)
      return
    }
    // The browser reads the form's fields after this returns. By then the choice stands in its field, and the buttons
    // are out of use: a double click sends one answer.
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
        <li>You can end its access whenever you like: disconnect it in the dashboard, under Connections.</li>
        <li>Whatever it does, the limits that were signed for the agent hold. It can’t raise them.</li>
      </ul>
      <div className="grid min-w-0 content-start gap-4">
        {mode === 'live' && workspace !== null && (
          <Notice tone="warning">
            <p>
              <strong>This is live.</strong> What it pays is real money of {workspace.name}.
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
            // Not `disabled`: that would take the focus away from somebody who comes back to this window.
            aria-disabled={!isSettled}
            disabled={sent !== null || proving.isUnderWay || blocker !== null}
          >
            Approve
          </Button>
          <Button type="submit" value="deny" disabled={sent !== null || proving.isUnderWay}>
            Deny
          </Button>
        </div>
        <ErrorNotice error={proving.error} />
        <p role="status" className={sent === null ? 'sr-only' : 'text-muted'}>
          {sent !== null && `Sending you back to ${host}. If nothing happens, load this page again.`}
        </p>
      </div>
    </form>
  )
}

function readChoice({ submitter }: globalThis.SubmitEvent): Choice | null {
  const value = submitter instanceof HTMLButtonElement ? submitter.value : null
  return value === 'approve' || value === 'deny' ? value : null
}
