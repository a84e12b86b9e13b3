import { pathOf } from '../../api/build-path.ts'
import { download } from '../../api/download.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { ExternalLink } from '../../components/external-link.tsx'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../components/session-context.ts'
import { useAction } from '../../components/use-action.ts'
import { explainEvidenceError } from '../../format/explain-evidence-error.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The download of the file that proves who allowed a payment. */
export function EvidenceSection({ id }: { readonly id: string }) {
  const { slug, mode } = useWorkspace()
  const { signer_url: signerUrl } = useSession()
  const saving = useAction({
    mutationFn: () =>
      download(
        pathOf('GET /console/workspaces/:slug/payments/:id/evidence', { params: { slug, id }, query: { mode } }),
      ),
  })
  return (
    <Section
      title="Evidence"
      lead="A file that proves who allowed this payment. Anybody can verify it without Bursar’s servers."
      actions={
        <Button isBusy={saving.isPending} onClick={() => saving.mutate()}>
          Download evidence
        </Button>
      }
    >
      <ErrorNotice error={saving.error} explain={explainEvidenceError} />
      {signerUrl !== null && (
        <p className="text-sm text-muted">
          <ExternalLink href={`${signerUrl}/verify.html`}>Verify a file</ExternalLink> with the public key of the owner,
          which the wallet’s page has.
        </p>
      )}
    </Section>
  )
}
