import { signOut } from '../api/session.ts'
import { ErrorNotice } from './error-notice.tsx'
import { TextButton } from './text-link.tsx'
import { withNext } from '../navigation/next-path.ts'
import { useAction } from './use-action.ts'

interface SignedInAsProps {
  readonly userName: string
  /** The page to return to after signing in as somebody else. */
  readonly here: string
}

/** Shows who is signed in. On a shared browser the user might otherwise approve with another person's account. */
export function SignedInAs({ userName, here }: SignedInAsProps) {
  const signingOut = useAction({ mutationFn: () => signOut(withNext('/sign-in', here)) })
  return (
    <div className="grid gap-2">
      <p>
        <span className="text-muted">You are signed in as </span>
        <strong>
          <bdi>{userName}</bdi>
        </strong>
        <span className="text-muted">. </span>
        <TextButton disabled={signingOut.isPending} onClick={() => signingOut.mutate()}>
          Not you?
        </TextButton>
      </p>
      <ErrorNotice error={signingOut.error} />
    </div>
  )
}
