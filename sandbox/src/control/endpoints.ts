import { ENCODINGS, FAULTS, FLOWS, OFFERS, PROTOCOLS } from '../seller/behaviour.ts'
import { READ_FAULTS, SEND_FAULTS } from '../enclave/faults.ts'

/**
 * All endpoints of the control API with the fields of their bodies. `GET /` returns this list. A `?` marks optional
 * fields.
 */
export const ENDPOINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'GET /': {},
  'POST /workspaces': { name: 'string', 'plan?': 'developer | pro | scale' },
  'POST /workspaces/:slug/keys': { mode: 'test | live', 'agent_id?': 'string', 'scopes?': 'scopes' },
  'POST /workspaces/:slug/wallets': { mode: 'test | live', 'fund_usdc?': 'decimal' },
  'POST /workspaces/:slug/grants': {
    mode: 'test | live',
    agent_id: 'string',
    wallet: 'address',
    max_per_tx_usdc: 'decimal',
    daily_cap_usdc: 'decimal',
    'recipient_allowlist?': 'addresses',
    'contract_allowlist?': 'addresses',
    'expires_at?': 'time or null',
    'x402?': 'boolean',
    'sign?': 'boolean',
  },
  'POST /workspaces/:slug/webhooks': { mode: 'test | live', url: 'string', 'events?': 'event types' },
  'GET /workspaces/:slug/deliveries': {},
  'POST /workspaces/:slug/consent': {
    authorize_url: 'string',
    mode: 'test | live',
    agent_id: 'string',
    'approve?': 'boolean',
  },
  'POST /workspaces/:slug/plan': { plan: 'developer | pro | scale', 'allowance_used?': 'integer' },
  'POST /workspaces/:slug/stop': { mode: 'test | live', 'agent_id?': 'string', 'wallet?': 'address' },
  'POST /grants/:id/sign': {},
  'POST /grants/:id/revoke': {},
  'POST /grants/:id/suspend': {},
  'POST /grants/:id/resume': {},
  'POST /deliveries/:id/replay': {},
  'POST /keys/rotate': { key: 'the secret' },
  'POST /keys/revoke': { key: 'the secret' },
  'POST /faucet': {
    mode: 'test | live',
    address: 'address',
    'amount_usdc | amount_coin':
      "decimal: an amount of USDC, or of the chain's native coin for wallets that pay their own gas",
  },
  'POST /clock': { 'advance_seconds | reset': 'integer, or true' },
  'POST /chains/:mode': {
    'mining | mine | reorg | fail_transfers | advance_seconds': 'boolean, or a number of blocks, transfers or seconds',
  },
  'GET /enclave/faults': {},
  'POST /enclave/faults': {
    fault: `${READ_FAULTS.join(' or ')}, or for sends one of: ${SEND_FAULTS.join(', ')}; random; none, which removes the faults that no request has met yet`,
    'count?': 'integer, for every fault except random and none: how many of the next requests meet it',
    'share?': 'number from 0 to 1, for random: the share of the sends that meet a fault',
    'seed?': 'integer, for random: the same seed chooses the same faults',
    'faults?': 'names, for random: the faults to choose from',
  },
  'POST /enclave/clock': { offset_seconds: "integer: how far the enclave's clock is ahead of the server's clock" },
  'POST /seller/resources': {
    'mode?': 'test | live',
    'price_usdc?': 'decimal',
    'protocol?': PROTOCOLS.join(' | '),
    'flow?': FLOWS.join(' | '),
    'pay_to?': 'address; a new one by default',
    'offers?': `the offers in this order, of: ${OFFERS.join(', ')} (x402_v2 only)`,
    'max_timeout_seconds?': 'integer',
    'faults?': `what the resource does wrong, of: ${FAULTS.join(', ')}`,
    'fault_count?': 'integer: how often each fault happens; always by default',
    'changes_after?': 'integer, for price_raised and payee_changed: how many requests see the first terms',
    'delay_ms?': 'integer, for settle_late, answer_slow and answer_dripped',
    'answer_bytes?': 'integer, for answer_huge',
    'answer_status?': 'integer, for answer_status',
    'encoding?': `${ENCODINGS.join(' | ')}, for offer_encoded and answer_encoded`,
    'redirect_status?': 'integer, for redirect',
    'redirect_to?': 'URL, for redirect: the target, which is the resource itself by default',
    'remembers?': 'boolean: whether a payer gets the goods again for an authorization that was already settled',
  },
  'GET /seller/resources/:id': {},
  'POST /enclave/profile': {
    profile: 'realistic | fast: whether sponsored sends are pending for 400 to 900 ms, as with the real provider',
  },
  'POST /enclave/references': {
    repeated:
      'collide | allow: whether a send is rejected if an earlier send has its reference id (as by default), or makes a second transaction with the same reference id',
  },
  'POST /enclave/forget-answers': {},
}
