import { Button } from './button.tsx'
import { ErrorNotice } from './error-notice.tsx'
import { Notice } from './notice.tsx'
import { useSession } from './session-context.ts'
import type { SignerAction } from './use-signer.ts'

type Status = Pick<SignerAction<unknown, never>, 'isPending' | 'isBlocked' | 'error' | 'show' | 'cancel'>

interface SignerStatusProps {
  readonly signer: Status
  /** Whether the person creates a passkey in the signer window, instead of signing. */
  readonly isCreation?: boolean
}

/** Says what an action in the signer window waits for, or why it failed. Shows nothing before the action starts. */
export function SignerStatus({ signer, isCreation = false }: SignerStatusProps) {
  const { isPending, isBlocked, error, show, cancel } = signer
  return (
    <>
      <div role="status" className="grid empty:hidden">
        {isPending && (
          <Notice>
            <p>
              {isBlocked
                ? 'Your browser did not open the signer window. Open it to continue.'
                : isCreation
                  ? 'Continue in the signer window. You create the passkey there.'
                  : 'Continue in the signer window. It shows what you sign, and asks for your wallet passkey.'}
            </p>
            <p className="flex flex-wrap gap-3">
              <Button variant={isBlocked ? 'primary' : 'plain'} onClick={show}>
                {isBlocked ? 'Open the signer window' : 'Show the signer window'}
              </Button>
              <Button variant="quiet" onClick={cancel}>
                Stop
              </Button>
            </p>
          </Notice>
        )}
      </div>
      {!isPending && <ErrorNotice error={error} />}
    </>
  )
}

/** Shown instead of a form that needs the signer page, if the operator has not set up a signer page. */
export function NoSignerNotice() {
  const { signer_url: signerUrl } = useSession()
  if (signerUrl !== null) return null
  return (
    <Notice tone="warning">
      <p>
        The signer page is not set up on this server, so nobody can create wallets, sign grants or withdraw. The
        operator must set <code>SIGNER_URL</code>.
      </p>
    </Notice>
  )
}
