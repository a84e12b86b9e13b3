import type { Credential } from '../../api/wire-spending.ts'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** What asked for a payment, and where it is looked after. */
export function CredentialText({ credential }: { readonly credential: Credential | null }) {
  const { to } = useWorkspace()
  if (credential === null) return 'a credential that was not noted'
  const { kind, id, name } = credential
  const shown = <bdi title={id}>{name === null || name === '' ? id : name}</bdi>
  return kind === 'key' ? (
    <>
      the API key <TextLink to={to('developers', 'keys')}>{shown}</TextLink>
    </>
  ) : (
    <>
      the connection of <TextLink to={to('developers', 'connections')}>{shown}</TextLink>
    </>
  )
}
