import { download } from '../../api/download.ts'
import { pathOf } from '../../api/build-path.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { useAction } from '../../components/use-action.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface DownloadStatementButtonProps {
  readonly wallet: string
  readonly month: string
  /** What screen readers say, if there are several buttons with the same text. */
  readonly label?: string
}

/** Downloads a statement with all its movements. */
export function DownloadStatementButton({ wallet, month, label }: DownloadStatementButtonProps) {
  const { slug, mode } = useWorkspace()
  const input = { params: { slug, address: wallet, month }, query: { mode } }
  const exporting = useAction({
    mutationFn: () => download(pathOf('GET /console/workspaces/:slug/statements/:address/:month/export', input)),
  })
  return (
    <>
      <Button aria-label={label} isBusy={exporting.isPending} onClick={() => exporting.mutate()}>
        Download CSV
      </Button>
      <ErrorNotice error={exporting.error} />
    </>
  )
}
