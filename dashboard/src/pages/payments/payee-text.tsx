import type { ListedPayment } from '@bursar/server/src/console/contract/payments.ts'
import { RecipientText } from './recipient-text.tsx'

type Bought = Pick<NonNullable<ListedPayment['purchase']>, 'resource_url' | 'host' | 'delivery'>

interface Payee {
  readonly to: string
  readonly purchase: Bought | null
}

/**
 * Who is paid: for a purchase the host that it was bought from, otherwise the recipient. If the agent fetches the resource
 * itself, the host is only what the agent said.
 */
export function PayeeText({ payment: { to, purchase } }: { readonly payment: Payee }) {
  if (purchase === null) return <RecipientText address={to} />
  const host = <bdi title={`${purchase.resource_url} (${to})`}>{purchase.host}</bdi>
  if (purchase.delivery !== null) return host
  return (
    <>
      {host}
      <span className="block text-sm font-normal text-muted">according to the agent</span>
    </>
  )
}
