import { AlertDialog } from '@base-ui/react/alert-dialog'
import { useEffect } from 'react'
import { useBlocker } from 'react-router'
import { AlertDialogContent } from './alert-dialog-content.tsx'
import { Button, buttonClass } from './button.tsx'

interface LeaveGuardProps {
  readonly title: string
  readonly lead: string
  /** The label of the button that leaves the page. */
  readonly leaveLabel: string
}

/**
 * While mounted, asks for confirmation before the user leaves the page. If the user opens another page of the
 * dashboard, our own dialog asks. If the user closes the tab or opens another site, the browser’s dialog asks.
 */
export function LeaveGuard({ title, lead, leaveLabel }: LeaveGuardProps) {
  const blocker = useBlocker(({ currentLocation, nextLocation }) => currentLocation.pathname !== nextLocation.pathname)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  return (
    <AlertDialog.Root open={blocker.state === 'blocked'} onOpenChange={() => blocker.reset?.()}>
      <AlertDialogContent title={title} lead={lead}>
        <div className="flex flex-wrap justify-end gap-3">
          <AlertDialog.Close className={buttonClass('primary')}>Stay</AlertDialog.Close>
          <Button variant="danger" onClick={() => blocker.proceed?.()}>
            {leaveLabel}
          </Button>
        </div>
      </AlertDialogContent>
    </AlertDialog.Root>
  )
}
