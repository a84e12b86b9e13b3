import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { authorizationRequestQuery } from '../../api/queries.ts'
import { Loading } from '../../components/loading.tsx'
import { CenteredCard } from '../../components/centered-card.tsx'
import { Consent } from './consent.tsx'
import { RequestError } from './request-error.tsx'

/** Asks the signed-in user whether an application may act as one of their agents. */
export function ConsentPage() {
  const [parameters] = useSearchParams()
  const handle = parameters.get('request') ?? ''
  const { data: request, error, refetch } = useQuery({ ...authorizationRequestQuery(handle), enabled: handle !== '' })

  // An error takes precedence over cached data: the request may have been answered in another tab.
  if (handle === '' || error !== null) {
    return (
      <CenteredCard>
        <RequestError error={error} onRetry={() => void refetch()} />
      </CenteredCard>
    )
  }
  return (
    <CenteredCard isWide>
      {request === undefined ? (
        <Loading what="Loading the request" />
      ) : (
        <Consent key={handle} handle={handle} request={request} />
      )}
    </CenteredCard>
  )
}
