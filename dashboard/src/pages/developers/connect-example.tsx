import { CodeText } from '../../components/code-text.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The URLs from which an agent host discovers everything else (RFC 8414, RFC 9728). */
export function ConnectExample({ baseUrl }: { readonly baseUrl: string | undefined }) {
  const { to } = useWorkspace()
  const { origin } = window.location
  return (
    <Section
      title="Connect an agent host without a key"
      lead={
        <>
          Hosts that support OAuth 2.1, such as MCP clients, register themselves from these URLs and send you here to
          approve. They are then listed under <TextLink to={to('developers', 'connections')}>Connections</TextLink>.
        </>
      }
    >
      <DescriptionList>
        <DescriptionItem term="API">
          {baseUrl === undefined ? '…' : <CodeText text={`${baseUrl}/v1`} what="the API URL" />}
        </DescriptionItem>
        <DescriptionItem term="Resource metadata">
          {baseUrl === undefined ? (
            '…'
          ) : (
            <CodeText
              text={`${baseUrl}/.well-known/oauth-protected-resource`}
              what="the URL of the resource metadata"
            />
          )}
        </DescriptionItem>
        <DescriptionItem term="Authorization server">
          <CodeText
            text={`${origin}/.well-known/oauth-authorization-server`}
            what="the URL of the authorization server metadata"
          />
        </DescriptionItem>
        <DescriptionItem term="Scopes">
          <CodeText text="wallet:read wallet:transfer x402:pay" what="the scopes" />
        </DescriptionItem>
      </DescriptionList>
    </Section>
  )
}
