import {
  extractReceiptPayload,
  verifyOfferSignatureEIP712,
  verifyReceiptSignatureEIP712,
  type EIP712SignedOffer,
  type EIP712SignedReceipt,
  type OfferPayload,
  type ReceiptPayload,
} from '@x402/extensions/offer-receipt'

interface Signed<Payload> {
  readonly signer: string
  readonly payload: Payload
}

/** Verifies the offer that the seller has signed, with the package of the x402 project. Throws if it is not valid. */
export async function verifyOffer(text: string): Promise<Signed<OfferPayload>> {
  return await verifyOfferSignatureEIP712(JSON.parse(text) as EIP712SignedOffer)
}

/** Verifies the receipt that the seller has signed. Throws if it is not valid. */
export async function verifyReceipt(text: string): Promise<Signed<ReceiptPayload>> {
  const receipt = JSON.parse(text) as EIP712SignedReceipt
  const { signer } = await verifyReceiptSignatureEIP712(receipt)
  return { signer, payload: extractReceiptPayload(receipt) }
}
