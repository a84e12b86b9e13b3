import { CodeText } from '../../components/code-text.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The URLs at which an application finds everything that it needs to connect (RFC 8414, RFC 9728). */
export function ConnectExample({ baseUrl }: { readonly baseUrl: string | undefined }) {
  const { to } = useWorkspace()
  const { origin } = window.location
  return (
    <Section
      title="Connect an application without an API key"
      lead={
        <>
          Applications that support MCP, such as Claude Code, ChatGPT or Cursor, need one URL only:{' '}
          <TextLink to={to('developers', 'connections')}>add Bursar to your agent</TextLink>. Other applications that
          support OAuth 2.1 find everything at the URLs below. They register themselves and send you here to approve
          them.
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
