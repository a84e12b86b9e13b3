import { signOut } from '../api/session.ts'
import { ErrorNotice } from './error-notice.tsx'
import { TextButton } from './text-link.tsx'
import { withNext } from '../navigation/next-path.ts'
import { useAction } from './use-action.ts'

interface SignedInAsProps {
  readonly userName: string
  /** The page that the other person comes back to. */
  readonly here: string
}

/** Says who is about to decide: another's session in this browser would give away that person's agents. */
export function SignedInAs({ userName, here }: SignedInAsProps) {
  const out = useAction({ mutationFn: () => signOut(withNext('/sign-in', here)) })
  return (
    <div className="grid gap-2">
      <p>
        <span className="text-muted">You are signed in as </span>
        <strong>
          <bdi>{userName}</bdi>
        </strong>
        <span className="text-muted">. </span>
        <TextButton disabled={out.isPending} onClick={() => out.mutate()}>
          Not you?
        </TextButton>
      </p>
      <ErrorNotice error={out.error} />
    </div>
  )
}
