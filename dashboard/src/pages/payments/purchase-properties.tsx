import type { PaymentDetail } from '@bursar/server/src/console/contract/payments.ts'
import { DescriptionItem } from '../../components/description-list.tsx'

type Purchase = NonNullable<PaymentDetail['purchase']>

const PROTOCOL_TEXTS: Readonly<Record<Purchase['protocol'], string>> = {
  x402_v2: 'x402, version 2',
  x402_v1: 'x402, version 1',
  mpp: 'MPP',
}

/** What a payment buys. The URL is not a link, because anybody can be a seller, so the website is not trusted. */
export function PurchaseProperties({ purchase }: { readonly purchase: Purchase }) {
  const { method, resource_url, protocol, description, delivery } = purchase
  return (
    <>
      <DescriptionItem term={delivery === null ? 'Resource, according to the agent' : 'Resource'}>
        <span className="font-mono text-sm wrap-anywhere">
          {delivery !== null && `${method} `}
          <bdi>{resource_url}</bdi>
        </span>
      </DescriptionItem>
      {description !== null && (
        <DescriptionItem term="The seller’s description">
          <q>
            <bdi className="wrap-anywhere">{description}</bdi>
          </q>
        </DescriptionItem>
      )}
      <DescriptionItem term="Protocol">{PROTOCOL_TEXTS[protocol]}</DescriptionItem>
      <DescriptionItem term="Delivery">{describeDelivery(purchase)}</DescriptionItem>
    </>
  )
}

function describeDelivery({ delivery, response_status }: Purchase): string {
  switch (delivery) {
    case 'delivered':
      return `Delivered (status ${response_status})`
    case 'failed':
      return `Not delivered (status ${response_status})`
    case 'unknown':
      return response_status === null ? 'No response yet' : `Only a part has arrived (status ${response_status})`
    case null:
      return 'Unknown, because the agent fetches the resource itself'
  }
}
