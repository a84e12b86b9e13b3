import { Button, buttonClass } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { LeaveGuard } from './leave-guard.tsx'

interface RecoveryCodesProps {
  readonly codes: readonly string[]
  readonly onSaved: () => void
}

/** Recovery codes. They are shown only once, so the user must confirm that they saved them. */
export function RecoveryCodes({ codes, onSaved }: RecoveryCodesProps) {
  const text = codes.join('\n')
  return (
    <div className="grid gap-5">
      <p className="text-muted">
        Each code signs you in once if you don’t have your passkey. The codes are shown only once. Save them where only
        you can find them.
      </p>
      <ol className="grid gap-x-6 gap-y-1.5 rounded-lg border border-line bg-sunken px-4 py-4 font-mono text-sm sm:grid-cols-2">
        {codes.map((code) => (
          <li key={code} className="break-all select-all">
            {code}
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap gap-3">
        <CopyButton text={text} what="the codes" />
        <DownloadLink
          text={`Recovery codes for Bursar at ${window.location.host}\nEach code works once.\n\n${text}\n`}
        />
      </div>
      <Button variant="primary" wide onClick={onSaved}>
        I have saved them
      </Button>
      <LeaveGuard
        title="Leave without the codes?"
        leaveLabel="Leave without them"
        lead="You won’t be able to see these codes again."
      />
    </div>
  )
}

function DownloadLink({ text }: { readonly text: string }) {
  const href = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`
  return (
    <a href={href} download="bursar-recovery-codes.txt" className={buttonClass('plain')}>
      Download as a file
    </a>
  )
}
