/** The verbs with which the labels of buttons begin. A test checks that no label begins with another one. */
const PARTICIPLES: Readonly<Record<string, string>> = {
  Add: 'Adding',
  Approve: 'Approving',
  Become: 'Changing',
  Confirm: 'Confirming',
  Create: 'Creating',
  Delete: 'Deleting',
  Deny: 'Denying',
  Disable: 'Disabling',
  Discard: 'Discarding',
  Disconnect: 'Disconnecting',
  Download: 'Downloading',
  Enable: 'Enabling',
  Export: 'Exporting',
  Generate: 'Generating',
  Get: 'Requesting',
  Join: 'Joining',
  Leave: 'Leaving',
  Make: 'Changing',
  Prepare: 'Preparing',
  Remove: 'Removing',
  Resend: 'Resending',
  Resume: 'Resuming',
  Review: 'Preparing',
  Revoke: 'Revoking',
  Save: 'Saving',
  Send: 'Sending',
  Show: 'Loading',
  Sign: 'Signing',
  Stop: 'Stopping',
  Suspend: 'Suspending',
}

/** Returns whether a button's label begins with a verb that this file knows. */
export function hasBusyText(label: string): boolean {
  return Object.hasOwn(PARTICIPLES, verbOf(label))
}

/** What a button says while its action is running: `Create key` becomes `Creating…`. */
export function formatBusy(label: string): string {
  if (label.startsWith('Sign in')) return 'Signing in…'
  if (label.startsWith('Sign out')) return 'Signing out…'
  return `${PARTICIPLES[verbOf(label)] ?? 'Working'}…`
}

function verbOf(label: string): string {
  return label.split(' ')[0] ?? ''
}
