import { AlertDialog } from '@base-ui/react/alert-dialog'
import { useEffect } from 'react'
import { useBlocker } from 'react-router'
import { AlertDialogContent } from './alert-dialog-content.tsx'
import { Button, buttonClass } from './button.tsx'

interface LeaveGuardProps {
  readonly title: string
  readonly lead: string
  /** The label of the button that leaves anyway. */
  readonly leaveLabel: string
}

/**
 * While mounted, asks for confirmation before the user leaves the page: with our own dialog inside the dashboard, with
 * the browser’s when the tab is closed or another site is opened.
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
